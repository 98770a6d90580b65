import { createAggregatorGateway } from 'aggregator-gateway'
import { closeOnSignal } from '@examples/close-on-signal'

const host = process.env.HOST ?? '127.0.0.1'
const port = Number(process.env.PORT ?? 0)

const protections = { optional: true, timeout: 500, retries: 1, hedge: true }

const app = await createAggregatorGateway({
  // Serve requests that arrive during shutdown. By default, Fastify rejects them with a 503.
  fastify: { return503OnClosing: false },
  upstreams: {
    parts: {
      origin: process.env.UPSTREAM ?? 'http://127.0.0.1:3001',
      // Five calls of each of a hundred clients may be queued.
      maxQueue: 1024,
    },
  },
  endpoints: [
    {
      path: '/api/:size',
      timeout: 1000,
      calls: {
        profile: { upstream: 'parts', path: '/profile/{params.size}', ...protections },
        permissions: { upstream: 'parts', path: '/permissions/{params.size}', ...protections },
        preferences: { upstream: 'parts', path: '/preferences/{params.size}', ...protections },
        notifications: { upstream: 'parts', path: '/notifications/{params.size}', ...protections },
        activity: { upstream: 'parts', path: '/activity/{params.size}', ...protections },
      },
    },
  ],
})

closeOnSignal(app.server, () => app.close())

await app.listen({ host, port })
console.log('Listening on', app.server.address())
