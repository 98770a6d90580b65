import { initTRPC } from '@trpc/server'
import Fastify from 'fastify'
import { errorCodes, trpcPlugin } from 'trpc-fastify'
import { expect, it } from 'vitest'
import { uncompiled } from '../helpers/fast-paths.ts'

const t = initTRPC.create()
const router = t.router({ hello: t.procedure.query(() => 'world') })

it('trpcStats counts the requests of each router by the path that served them', async () => {
  const app = Fastify()
  await app.register(trpcPlugin, { trpcOptions: { router } })
  await app.register(
    async (api) => {
      await api.register(trpcPlugin, { prefix: 'trpc', fastPath: uncompiled, trpcOptions: { router } })
    },
    { prefix: '/api' },
  )
  for (const url of ['/hello', '/missing', '/api/trpc/hello', '/api/trpc/hello']) await app.inject(url)
  expect(app.trpcStats()).toEqual({ compiled: 1, uncompiled: 0, fallback: { procedure: 1 } })
  expect(app.trpcStats('/api/trpc')).toEqual({ compiled: 0, uncompiled: 2, fallback: {} })
  expect(app.trpcStats('/trpc')).toBeUndefined()
})

it('trpcStats returns a copy', async () => {
  const app = Fastify()
  await app.register(trpcPlugin, { prefix: '/trpc', trpcOptions: { router } })
  const before = app.trpcStats('/trpc')
  await app.inject('/trpc/hello')
  await app.inject('/trpc/missing')
  expect(before).toEqual({ compiled: 0, uncompiled: 0, fallback: {} })
})

it('errorCodes has the constructor of each error', async () => {
  const registered = Fastify().register(trpcPlugin, { trpcOptions: { router }, useWSS: true })
  await expect(registered).rejects.toBeInstanceOf(errorCodes.TRPC_FASTIFY_WEBSOCKET_MISSING)
  const invalid = Fastify().register(trpcPlugin, { trpcOptions: { router }, prefix: 5 as never })
  await expect(invalid).rejects.toBeInstanceOf(errorCodes.TRPC_FASTIFY_INVALID_OPTION)
})
