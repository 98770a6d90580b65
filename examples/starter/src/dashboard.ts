import type { GatewayPluginOptions } from 'aggregator-gateway'

/** One response of three upstream calls. The third waits for the first, because its path needs a value of it. */
export function dashboard(services: string): GatewayPluginOptions {
  return {
    upstreams: { services },
    endpoints: [
      {
        path: '/dashboard/:id',
        timeout: 800,
        calls: {
          profile: { upstream: 'services', path: '/users/{params.id}' },
          orders: { upstream: 'services', path: '/orders?user={params.id}', optional: true, timeout: 300 },
          invoices: { upstream: 'services', path: '/invoices/{calls.profile.account}' },
        },
      },
    ],
  }
}
