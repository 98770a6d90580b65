import Fastify from 'fastify'
import { expect, it, onTestFinished } from 'vitest'
import { jsonUpstream } from '../../helpers/servers.ts'

it('app.register(import()) registers the plugin', async () => {
  const origin = await jsonUpstream(() => ({ name: 'Ada' }))
  const app = Fastify()
  onTestFinished(() => app.close())
  await app.register(import('../../../src/index.ts'), {
    upstreams: { users: origin },
    endpoints: [{ path: '/', calls: { one: { upstream: 'users', path: '/' } } }],
  })
  expect((await app.inject('/')).json()).toEqual({ one: { name: 'Ada' } })
})
