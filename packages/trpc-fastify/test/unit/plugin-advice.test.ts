// The advice of docs/fastify-plugins.md on streams, caches and tokens.

import { once } from 'node:events'
import { type ClientRequest, get, type IncomingMessage } from 'node:http'
import type { AddressInfo } from 'node:net'
import { constants, createBrotliDecompress, createGunzip } from 'node:zlib'
import compress from '@fastify/compress'
import jwt from '@fastify/jwt'
import { initTRPC, TRPCError } from '@trpc/server'
import Fastify from 'fastify'
import { type CreateFastifyContextOptions, trpcPlugin } from 'trpc-fastify'
import { expect, it } from 'vitest'
import { routing } from '../helpers/peer-versions.ts'

const t = initTRPC.create({ isDev: false })
const STREAM = { 'trpc-accept': 'application/jsonl' }

it.each([
  ['gzip', createGunzip],
  ['br', createBrotliDecompress],
] as const)('sends each line of a streamed batch immediately, compressed by %s', async (encoding, decompress) => {
  const read = Promise.withResolvers<string>()
  const router = t.router({ now: t.procedure.query(() => 1), later: t.procedure.query(() => read.promise) })
  await using app = Fastify(routing({ maxParamLength: 1000 }))
  await app.register(compress, {
    encodings: ['br', 'gzip'],
    brotliOptions: { flush: constants.BROTLI_OPERATION_FLUSH },
    zlibOptions: { flush: constants.Z_SYNC_FLUSH },
  })
  await app.register(trpcPlugin, { prefix: '/trpc', trpcOptions: { router } })
  await app.listen({ port: 0, host: '127.0.0.1' })

  const { port } = app.server.address() as AddressInfo
  const headers = { ...STREAM, 'accept-encoding': encoding }
  const request: ClientRequest = get({ port, path: '/trpc/now,later?batch=1', headers })
  const [response] = (await once(request, 'response')) as [IncomingMessage]
  const lines = response.pipe(decompress()).setEncoding('utf8')
  const [first] = (await once(lines, 'data')) as [string]
  read.resolve('read')
  const rest = (await lines.toArray()).join('')

  expect(response.headers['content-encoding']).toBe(encoding)
  expect(first).toContain('"data":1')
  expect(first).not.toContain('read')
  expect(rest).toContain('"data":"read"')
})

it('sets no public cache-control for a streamed batch, whose errors are not known yet', async () => {
  const router = t.router({
    hello: t.procedure.query(() => 'world'),
    failing: t.procedure.query(() => Promise.reject(new TRPCError({ code: 'NOT_FOUND' }))),
  })
  await using app = Fastify(routing({ maxParamLength: 1000 }))
  await app.register(trpcPlugin<typeof router>, {
    prefix: '/trpc',
    trpcOptions: {
      router,
      responseMeta: ({ errors, type, eagerGeneration }) =>
        type === 'query' && errors.length === 0 && !eagerGeneration
          ? { headers: { 'cache-control': 'public, max-age=60' } }
          : {},
    },
  })

  const cacheControlOf = async (url: string, headers = {}): Promise<unknown> =>
    (await app.inject({ url, headers })).headers['cache-control']
  expect(await cacheControlOf('/trpc/hello')).toBe('public, max-age=60')
  expect(await cacheControlOf('/trpc/hello,hello?batch=1')).toBe('public, max-age=60')
  expect(await cacheControlOf('/trpc/hello,failing?batch=1')).toBeUndefined()
  expect(await cacheControlOf('/trpc/hello,failing?batch=1', STREAM)).toBeUndefined()
})

it('sends 401 for an invalid token by an error of tRPC', async () => {
  const createContext = async ({ req }: CreateFastifyContextOptions): Promise<{ user: { id: number } }> => {
    try {
      return { user: await req.jwtVerify<{ id: number }>() }
    } catch (cause) {
      throw new TRPCError({ code: 'UNAUTHORIZED', message: 'Invalid token', cause })
    }
  }
  const { router: routerOf, procedure } = initTRPC.context<typeof createContext>().create({ isDev: false })
  const router = routerOf({ user: procedure.query(({ ctx }) => ctx.user.id) })
  await using app = Fastify()
  await app.register(jwt, { secret: 'a secret of this test' })
  await app.register(trpcPlugin<typeof router>, { prefix: '/trpc', trpcOptions: { router, createContext } })

  const authorization = `Bearer ${app.jwt.sign({ id: 7 })}`
  expect((await app.inject({ url: '/trpc/user', headers: { authorization } })).json()).toEqual({ result: { data: 7 } })
  expect(await app.inject('/trpc/user')).toMatchObject({
    statusCode: 401,
    body: '{"error":{"message":"Invalid token","code":-32001,"data":{"code":"UNAUTHORIZED","httpStatus":401,"path":"user"}}}',
  })
})
