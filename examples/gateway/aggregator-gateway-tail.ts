import { createAggregatorGateway } from 'aggregator-gateway'
import { closeOnSignal } from '@examples/close-on-signal'

const host = process.env.HOST ?? '127.0.0.1'
const port = Number(process.env.PORT ?? 0)

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
      path: '/hedged/:size',
      calls: {
        profile: { upstream: 'parts', path: '/late/profile/{params.size}', hedge: true },
        permissions: { upstream: 'parts', path: '/late/permissions/{params.size}', hedge: true },
        preferences: { upstream: 'parts', path: '/late/preferences/{params.size}', hedge: true },
        notifications: { upstream: 'parts', path: '/late/notifications/{params.size}', hedge: true },
        activity: { upstream: 'parts', path: '/late/activity/{params.size}', hedge: true },
      },
    },
    {
      path: '/unhedged/:size',
      calls: {
        profile: { upstream: 'parts', path: '/late/profile/{params.size}' },
        permissions: { upstream: 'parts', path: '/late/permissions/{params.size}' },
        preferences: { upstream: 'parts', path: '/late/preferences/{params.size}' },
        notifications: { upstream: 'parts', path: '/late/notifications/{params.size}' },
        activity: { upstream: 'parts', path: '/late/activity/{params.size}' },
      },
    },
  ],
})

closeOnSignal(app.server, () => app.close())

await app.listen({ host, port })
console.log('Listening on', app.server.address())
