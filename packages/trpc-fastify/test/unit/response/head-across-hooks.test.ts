// The package's own `onSend` hook costs time on each response, so only routes with other `onSend` hooks have it. That both
// ways send the same is compared in test/unit/differential/.

import { initTRPC } from '@trpc/server'
import Fastify, { type FastifyInstance } from 'fastify'
import { trpcPlugin, type TrpcPluginOptions } from 'trpc-fastify'
import { expect, it } from 'vitest'

const t = initTRPC.create()
const router = t.router({ hello: t.procedure.query(() => 'world') })
const hook = (_request: unknown, _reply: unknown, _payload: unknown, done: () => void): void => done()

/** Names of the `onSend` hooks of the tRPC route, in order. */
async function onSendHooks(
  app: FastifyInstance,
  options: Omit<TrpcPluginOptions<typeof router>, 'trpcOptions'> = {},
): Promise<unknown> {
  await app.register(trpcPlugin<typeof router>, { ...options, trpcOptions: { router } })
  return namesOfHooks(app)
}

async function namesOfHooks(app: FastifyInstance): Promise<unknown> {
  await app.ready()
  const hooks = /\(onSend\) (\[.*\])/.exec(app.printRoutes({ includeHooks: true, method: 'GET' }))?.[1]
  await app.close()
  return JSON.parse(hooks ?? '[]')
}

it('adds no onSend hook to a route without other ones', async () => {
  const app = Fastify()
  app.addHook('onRequest', async () => {})
  expect(await onSendHooks(app)).toEqual([])
})

it('adds the last onSend hook to a route in an app with another one', async () => {
  const app = Fastify()
  app.addHook('onSend', hook)
  expect(await onSendHooks(app)).toEqual(['hook()', 'settleHead()'])
})

it('adds the last onSend hook if the app gets another one before it is ready', async () => {
  const app = Fastify()
  const hooks = onSendHooks(app)
  app.addHook('onSend', hook)
  expect(await hooks).toEqual(['hook()', 'settleHead()'])
})

it('adds the last onSend hook if the app gets another one after the plugin', async () => {
  const app = Fastify()
  await app.register(trpcPlugin<typeof router>, { trpcOptions: { router } })
  app.addHook('onSend', hook)
  expect(await namesOfHooks(app)).toEqual(['hook()', 'settleHead()'])
})

it('adds no onSend hook below a prefix with a slash at its end', async () => {
  expect(await onSendHooks(Fastify(), { prefix: '/trpc/' })).toEqual([])
})

it('adds the last onSend hook to a route that gets another one by an onRoute hook', async () => {
  const app = Fastify()
  app.addHook('onRoute', (route) => {
    route.onSend = hook
  })
  expect(await onSendHooks(app)).toEqual(['hook()', 'settleHead()'])
})

it('adds the last onSend hook to a route with a rule for onSend', async () => {
  const hooks = await onSendHooks(Fastify(), { procedures: { hello: { onSend: hook } } })
  expect(hooks).toEqual([expect.any(String), 'settleHead()'])
})

it('adds its onSend hook over HTTP/2', async () => {
  expect(await onSendHooks(Fastify({ http2: true }) as unknown as FastifyInstance)).toEqual(['settleHead()'])
})

it('adds its onSend hook if Fastify does not show the hooks of an app', async () => {
  const app = Fastify()
  app.addHook('onRegister', (instance) => {
    const store = Object.getOwnPropertySymbols(instance).find(({ description }) => description === 'fastify.hooks')!
    const hooks: unknown = Reflect.get(instance, store)
    Reflect.deleteProperty(instance, store)
    Object.defineProperty(Object.getPrototypeOf(instance) as object, store, { value: hooks, configurable: true })
  })
  expect(await onSendHooks(app)).toEqual(['settleHead()'])
})
