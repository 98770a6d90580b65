// The same router by trpc-to-openapi and by openApiPlugin.

import { createRequire } from 'node:module'
import { initTRPC, TRPCError } from '@trpc/server'
import type { CreateFastifyContextOptions } from '@trpc/server/adapters/fastify'
import Fastify, { type FastifyInstance, type InjectOptions } from 'fastify'
import { openApiPlugin, type OpenApiMeta } from 'trpc-fastify/openapi'
import { afterAll, beforeAll, expect, it } from 'vitest'
import { z } from 'zod'

// Its types import those of Next, which change the types of the process.
const require = createRequire(import.meta.url)
const { fastifyTRPCOpenApiPlugin } = require('trpc-to-openapi') as {
  fastifyTRPCOpenApiPlugin: (app: FastifyInstance, options: object, done: () => void) => void
}

/** A router for each: trpc-to-openapi changes the validators. */
function makeRouter() {
  const t = initTRPC.meta<OpenApiMeta>().context<{ user: string }>().create({ isDev: false })
  const at = (method: 'GET' | 'POST' | 'PUT' | 'PATCH' | 'DELETE', path: `/${string}`) =>
    t.procedure.meta({ openapi: { method, path } })
  const all = z.object({ id: z.string(), count: z.number().optional(), tags: z.array(z.string()).optional() })
  return t.router({
    read: at('GET', '/items/{id}')
      .input(all)
      .output(z.any())
      .query(({ input }) => input),
    write: at('POST', '/items/{id}')
      .input(all)
      .output(z.any())
      .mutation(({ input }) => input),
    put: at('PUT', '/items/{id}')
      .input(all)
      .output(z.any())
      .mutation(({ input }) => input),
    patch: at('PATCH', '/items/{id}')
      .input(all)
      .output(z.any())
      .mutation(({ input }) => input),
    remove: at('DELETE', '/items/{id}')
      .input(all)
      .output(z.any())
      .mutation(({ input }) => input),
    on: at('GET', '/on')
      .input(z.object({ on: z.boolean() }))
      .output(z.any())
      .query(({ input }) => input),
    since: at('POST', '/since')
      .input(z.object({ since: z.date() }))
      .output(z.any())
      .mutation(({ input }) => input),
    user: at('GET', '/user')
      .input(z.void())
      .output(z.string())
      .query(({ ctx }) => ctx.user),
    fails: at('GET', '/fails')
      .input(z.void())
      .output(z.any())
      .query(() => {
        throw new TRPCError({ code: 'CONFLICT', message: 'Taken' })
      }),
    badOutput: at('GET', '/bad-output')
      .input(z.void())
      .output(z.number())
      .query(() => 'x' as unknown as number),
    hidden: t.procedure.query(() => 'secret'),
  })
}
type Options = {
  router: ReturnType<typeof makeRouter>
  createContext: (options: CreateFastifyContextOptions) => { user: string }
}
const options = (): Options => ({
  router: makeRouter(),
  createContext: ({ req }) => ({ user: String(req.headers['x-user'] ?? 'nobody') }),
})

let peer: FastifyInstance
let ours: FastifyInstance
beforeAll(async () => {
  peer = Fastify()
  const theirs: object = { basePath: '/api', ...options() }
  await peer.register(fastifyTRPCOpenApiPlugin, theirs)
  ours = Fastify()
  // The guide has this error handler for clients that read the bodies of trpc-to-openapi.
  ours.setErrorHandler((error, _request, reply) => {
    const failure = error as Error & { code: string; statusCode?: number; cause?: { issues?: unknown } }
    const { message, code, statusCode = 500, cause } = failure
    if (reply.statusCode < 400) reply.code(statusCode)
    const issues = code === 'BAD_REQUEST' ? cause?.issues : undefined
    return reply.send({ message: issues ? 'Input validation failed' : message, code, issues })
  })
  await ours.register(openApiPlugin<Options['router']>, { prefix: '/api', trpcOptions: options() })
})
afterAll(() => Promise.all([peer.close(), ours.close()]))

const answer = async (app: FastifyInstance, request: InjectOptions | string) => {
  const { statusCode, body } = await app.inject(request)
  const parsed = body === '' ? '' : (JSON.parse(body) as Record<string, unknown>)
  if (statusCode < 400 || typeof parsed !== 'object') return { statusCode, body: parsed }
  // It adds the shape of tRPC's own errors, too.
  const { message, code, issues } = parsed
  return { statusCode, body: { message, code, issues } }
}
const body = { id: 'x', count: 2, tags: ['a', 'b'] }

it.each<[InjectOptions]>([
  [{ url: '/api/items/7' }],
  [{ url: '/api/items/7?count=2' }],
  [{ url: '/api/items/7?count=2.5&tags=a&tags=b' }],
  [{ url: '/api/items/7?tags=a' }],
  [{ url: '/api/items/a?id=8&other=1' }],
  [{ method: 'POST', url: '/api/items/7', payload: { tags: 1 } }],
  [{ method: 'POST', url: '/api/items/7', payload: body }],
  [{ method: 'PUT', url: '/api/items/7', payload: body }],
  [{ method: 'PATCH', url: '/api/items/7', payload: {} }],
  [{ method: 'DELETE', url: '/api/items/7?count=1' }],
  [{ method: 'POST', url: '/api/items/7', payload: { tags: 'a' } }],
  [{ method: 'POST', url: '/api/since', payload: { since: '2026-01-01T00:00:00.000Z' } }],
  [{ url: '/api/on?on=true' }],
  [{ url: '/api/user', headers: { 'x-user': 'ada' } }],
  [{ url: '/api/fails' }],
  [{ url: '/api/bad-output' }],
])('have the same status and body: %o', async (request) => {
  expect(await answer(ours, request)).toEqual(await answer(peer, request))
})

it.each<[string, InjectOptions, number, number]>([
  ['"false" is false, and not the truth of a text', { url: '/api/on?on=false' }, 200, 200],
  ['a number in a body stays one', { method: 'POST', url: '/api/items/7', payload: { count: '2' } }, 200, 400],
  ['parameters of paths are decoded', { url: '/api/items/a%20b' }, 200, 200],
  ['a text that is no number stays a text', { url: '/api/items/7?count=x' }, 400, 400],
  ['a trailing slash makes another path', { url: '/api/items/7/' }, 200, 404],
  ['case makes another path', { url: '/api/Items/7' }, 200, 404],
  ['HEAD runs the query', { method: 'HEAD', url: '/api/items/7' }, 204, 200],
  ['procedures without meta', { url: '/api/hidden' }, 404, 404],
])('known difference: %s', async (_title, request, theirs, own) => {
  const [expected, found] = [await answer(peer, request), await answer(ours, request)]
  expect([expected.statusCode, found.statusCode]).toEqual([theirs, own])
  expect(found).not.toEqual(expected)
})

it.each<[string, string, string, number]>([
  ['malformed JSON', 'application/json', '{', 400],
  ['another content type', 'text/plain', '{}', 415],
])("the guide's error handler keeps status and text of Fastify's errors: %s", async (_title, type, payload, status) => {
  const request = { method: 'POST', url: '/api/items/7', headers: { 'content-type': type }, payload } as const
  const { statusCode, body: sent } = await answer(ours, request)
  // Fastify 5.0 gives malformed JSON no code of its own.
  expect([statusCode, sent]).toMatchObject([
    status,
    { message: expect.stringMatching(/JSON|Unsupported Media Type/) as string },
  ])
})
