import { createAggregatorGateway } from 'aggregator-gateway'
import { closeOnSignal } from '@examples/close-on-signal'

const host = process.env.HOST ?? '127.0.0.1'
const port = Number(process.env.PORT ?? 0)
const origin = process.env.UPSTREAM ?? 'http://127.0.0.1:3001'

const app = await createAggregatorGateway({
  // Serve requests that arrive during shutdown. By default, Fastify rejects them with a 503.
  fastify: { return503OnClosing: false },
  upstreams: { users: origin, shop: { origin, maxConnections: 32, retryBudget: 1 } },
  endpoints: [
    {
      path: '/dashboard/:id',
      timeout: 800,
      calls: {
        profile: { upstream: 'users', path: '/users/{params.id}', pick: ['name', 'account'] },
        orders: { upstream: 'shop', path: '/orders?user={params.id}', target: 'items', omit: ['updatedAt'] },
        // It waits for the profile.
        invoices: { upstream: 'shop', path: '/invoices/{calls.profile.account}', target: 'items' },
        // Every second call fails and needs a retry. The default `retryBudget` allows fewer.
        recommendations: { upstream: 'shop', path: '/recommendations?user={params.id}', optional: true, retries: 1 },
        // One call in a hundred takes 200 ms, and gets a hedged request.
        activity: { upstream: 'users', path: '/late/activity/150', optional: true, timeout: 300, hedge: true },
        // The upstream has no badges: the value is null, and `x-gateway-missing` says why.
        badges: { upstream: 'users', path: '/badges/{params.id}', optional: true },
      },
    },
  ],
})

closeOnSignal(app.server, () => app.close())

await app.listen({ host, port })
console.log('Listening on', app.server.address())
