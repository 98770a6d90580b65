import Fastify from 'fastify'
import * as namespace from 'fastify-write-batching'
import { errorCodes, fastifyWriteBatching } from 'fastify-write-batching'
import { expect, it, onTestFinished } from 'vitest'

it.each([
  ['a dynamic import', () => import('fastify-write-batching')],
  ['the default export', () => namespace.default],
  ['the module itself', () => namespace as unknown as typeof namespace.default],
])('counts from 0 when Fastify registers %s', async (_name, plugin) => {
  const app = Fastify()
  onTestFinished(() => app.close())
  await app.register(plugin() as typeof namespace.default)
  expect(app.writeBatchingStats()).toEqual({ batched: 0, immediate: 0 })
})

it('has no effect when it is registered a second time', async () => {
  const app = Fastify()
  onTestFinished(() => app.close())
  await app.register(fastifyWriteBatching)
  const { writeBatchingStats } = app
  await app.register(fastifyWriteBatching)
  await app.register((scope) => scope.register(fastifyWriteBatching))
  expect(app.writeBatchingStats).toBe(writeBatchingStats)
})

it('has its own counts in each app', async () => {
  const apps = [Fastify(), Fastify()] as const
  for (const app of apps) onTestFinished(() => app.close())
  for (const app of apps) await app.register(fastifyWriteBatching)
  expect(apps[0].writeBatchingStats).not.toBe(apps[1].writeBatchingStats)
})

it.each([{ enabled: true }, { prefix: '/api', delay: undefined }])('rejects unknown options: %o', async (options) => {
  const registered = Fastify().register(fastifyWriteBatching, options as never)
  const name = Object.keys(options).at(-1)
  await expect(registered).rejects.toThrow(TypeError)
  await expect(registered).rejects.toThrow(errorCodes.FASTIFY_WRITE_BATCHING_INVALID_OPTION)
  await expect(registered).rejects.toMatchObject({
    code: 'FASTIFY_WRITE_BATCHING_INVALID_OPTION',
    message: `Invalid option "${name}": fastify-write-batching has no options. Remove it.`,
  })
})

it('accepts the options that Fastify itself reads', async () => {
  const app = Fastify()
  onTestFinished(() => app.close())
  await app.register(fastifyWriteBatching, {
    prefix: '/api',
    logLevel: 'warn',
    logSerializers: {},
  })
  expect(app.writeBatchingStats()).toEqual({ batched: 0, immediate: 0 })
})
