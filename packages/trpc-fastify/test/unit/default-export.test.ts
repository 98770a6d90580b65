import { initTRPC } from '@trpc/server'
import Fastify from 'fastify'
import * as namespace from 'trpc-fastify'
import { expect, it, onTestFinished } from 'vitest'

const t = initTRPC.create()
const router = t.router({ hello: t.procedure.query(() => 'world') })

it.each([
  ['a dynamic import', () => import('trpc-fastify')],
  ['the default export', () => namespace.default],
  ['the module itself', () => namespace as unknown as typeof namespace.default],
])('serves the router when Fastify registers %s', async (_name, plugin) => {
  const app = Fastify()
  onTestFinished(() => app.close())
  await app.register(plugin() as typeof namespace.default, { prefix: '/trpc', trpcOptions: { router } })
  const { statusCode, body } = await app.inject('/trpc/hello')
  expect([statusCode, body]).toEqual([200, '{"result":{"data":"world"}}'])
  expect(app.trpcStats('/trpc')).toMatchObject({ compiled: 1 })
})
