import { createAggregatorGateway } from 'aggregator-gateway'
import { closeOnSignal } from '@examples/close-on-signal'

const host = process.env.HOST ?? '127.0.0.1'
const port = Number(process.env.PORT ?? 0)
const origin = process.env.UPSTREAM ?? 'http://127.0.0.1:3001'

const app = await createAggregatorGateway({
  // A request that comes in while closing is answered; by default Fastify refuses it with a 503.
  fastify: { return503OnClosing: false },
  upstreams: { users: origin, shop: { origin, connections: 32, retryBudget: 1 } },
  endpoints: [
    {
      path: '/dashboard/:id',
      timeout: 800,
      calls: {
        profile: { upstream: 'users', path: '/users/{params.id}', pick: ['name', 'account'] },
        orders: { upstream: 'shop', path: '/orders?user={params.id}', target: 'items', omit: ['updatedAt'] },
        // It waits for the profile.
        invoices: { upstream: 'shop', path: '/invoices/{calls.profile.account}', target: 'items' },
        // Every second call for these fails, which takes a retry for each: `retryBudget` allows fewer by default.
        recommendations: { upstream: 'shop', path: '/recommendations?user={params.id}', optional: true, retry: 1 },
        // One call in a hundred takes 200 ms, and has a second one sent after it.
        activity: { upstream: 'users', path: '/late/activity/150', optional: true, timeout: 300, hedge: true },
        // There is no such thing: it is null, and `x-gateway-missing` says why.
        badges: { upstream: 'users', path: '/badges/{params.id}', optional: true },
      },
    },
  ],
})

closeOnSignal(app.server, () => app.close())

await app.listen({ host, port })
console.log('Listening on', app.server.address())
