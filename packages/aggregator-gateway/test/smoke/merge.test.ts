import { once } from 'node:events'
import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import { expect, it, onTestFinished } from 'vitest'
import { createAggregatorGateway } from '../../src/index.ts'

it('merges the responses of upstreams, and passes one through', async () => {
  const upstream = createServer(({ url }, response) => {
    response.setHeader('content-type', 'application/json').end(JSON.stringify({ url }))
  }).listen(0, '127.0.0.1')
  await once(upstream, 'listening')
  onTestFinished(() => void upstream.close())
  const app = await createAggregatorGateway({
    upstreams: { users: `http://127.0.0.1:${(upstream.address() as AddressInfo).port}` },
    endpoints: [
      {
        path: '/dashboard/:id',
        calls: {
          profile: { upstream: 'users', path: '/users/{params.id}' },
          orders: { upstream: 'users', path: '/orders?user={params.id}' },
        },
      },
      { path: '/files/:id', passThrough: { upstream: 'users', path: '/files/{params.id}' } },
    ],
  })
  onTestFinished(() => app.close())
  const origin = await app.listen({ host: '127.0.0.1', port: 0 })
  const [dashboard, file] = await Promise.all(
    ['/dashboard/7', '/files/a'].map(async (path) => (await fetch(origin + path)).json()),
  )
  expect(dashboard).toEqual({ profile: { url: '/users/7' }, orders: { url: '/orders?user=7' } })
  expect(file).toEqual({ url: '/files/a' })
})
