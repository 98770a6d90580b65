// A router that both plugins serve, with rules: none may be left open by the other plugin.

import { initTRPC } from '@trpc/server'
import Fastify, { type FastifyInstance } from 'fastify'
import { type ProcedureRule, trpcPlugin } from 'trpc-fastify'
import { openApiPlugin, type OpenApiMeta } from 'trpc-fastify/openapi'
import { expect, it, onTestFinished } from 'vitest'

const t = initTRPC.meta<OpenApiMeta>().create({ isDev: false })
const makeRouter = () =>
  t.router({ secret: t.procedure.meta({ openapi: { method: 'GET', path: '/secret' } }).query(() => 'secret') })
const router = makeRouter()

type Rules = Record<string, ProcedureRule> | undefined

const ORDERS = [
  ['trpcPlugin', 'openApiPlugin'],
  ['openApiPlugin', 'trpcPlugin'],
] as const

const CHECKED: Rules = {
  secret: {
    onRequest: async (_request, reply) => await reply.code(401).send(),
  },
}

const register = async (
  app: FastifyInstance,
  plugin: (typeof ORDERS)[number][number],
  procedures: Rules,
  served = router,
): Promise<void> => {
  const options = { trpcOptions: { router: served }, ...(procedures && { procedures }) }
  if (plugin === 'trpcPlugin') await app.register(trpcPlugin, { prefix: '/trpc', ...options })
  else await app.register(openApiPlugin, { prefix: '/api', ...options })
}

function appOf(): FastifyInstance {
  const app = Fastify()
  onTestFinished(() => app.close())
  return app
}

it.each(ORDERS)('%s has rules, so %s after it needs some', async (first, second) => {
  const app = appOf()
  await register(app, first, CHECKED)
  await expect(register(app, second, undefined)).rejects.toMatchObject({
    code: 'TRPC_FASTIFY_INVALID_OPTION',
    message: `Invalid option "procedures": expected the rules that ${first} has for this router, or {} for none, got undefined.`,
  })
})

it.each(ORDERS)('%s has no rules, so %s after it cannot have some', async (first, second) => {
  const app = appOf()
  await register(app, first, undefined)
  await expect(register(app, second, CHECKED)).rejects.toMatchObject({
    code: 'TRPC_FASTIFY_INVALID_OPTION',
    message: `Invalid option "procedures": expected ${first} to have these rules for this router, too, or {} for none, got "secret".`,
  })
})

it.each<[string, Rules, Rules, number[]]>([
  ['both have rules', CHECKED, CHECKED, [401, 401]],
  ['none has rules', undefined, undefined, [200, 200]],
  ['the REST routes say that they have none', CHECKED, {}, [401, 200]],
  ['tRPC says that it has none', {}, CHECKED, [200, 401]],
])('serves a router by both plugins if %s', async (_, ofTrpc, ofRest, statuses) => {
  const app = appOf()
  // Also in contexts of their own.
  await app.register(async (scope) => register(scope, 'trpcPlugin', ofTrpc))
  await app.register(async (scope) => register(scope, 'openApiPlugin', ofRest))
  const responses = await Promise.all(['/trpc/secret', '/api/secret'].map((url) => app.inject(url)))
  expect(responses.map(({ statusCode }) => statusCode)).toEqual(statuses)
})

it('rules of another router or of another app do not matter', async () => {
  const app = appOf()
  await register(app, 'trpcPlugin', CHECKED)
  await register(app, 'openApiPlugin', undefined, makeRouter())
  await register(appOf(), 'openApiPlugin', undefined)
  expect((await app.inject('/api/secret')).statusCode).toBe(200)
})
