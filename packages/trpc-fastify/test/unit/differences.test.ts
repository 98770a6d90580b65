// What the README names as different from the official adapter, one test for each.

import { once } from 'node:events'
import { get, type IncomingMessage } from 'node:http'
import { connect } from 'node:http2'
import { setTimeout as sleep } from 'node:timers/promises'
import { gunzipSync } from 'node:zlib'
import compress from '@fastify/compress'
import etag from '@fastify/etag'
import swagger from '@fastify/swagger'
import { initTRPC, TRPCError } from '@trpc/server'
import { fastifyTRPCPlugin, type FastifyTRPCPluginOptions } from '@trpc/server/adapters/fastify'
import Fastify, { type FastifyInstance } from 'fastify'
import fp from 'fastify-plugin'
import { trpcPlugin } from 'trpc-fastify'
import { describe, expect, it, onTestFinished } from 'vitest'
import { HAS } from '../helpers/peer-versions.ts'

const t = initTRPC.create()
const fail = (message: string) => (): never => {
  throw new TRPCError({ code: 'CONFLICT', message })
}
const router = t.router({
  hello: t.procedure.query(() => 'world'),
  long: t.procedure.query(() => 'x'.repeat(2000)),
  unserializable: t.procedure.query(() => ({ number: 1n })),
  failsAfterInput: t.procedure.input(String).query(fail('after input')),
  fails: t.procedure.query(fail('at once')),
  events: t.procedure.subscription(async function* () {
    yield* [1, 2]
    await sleep(20)
    yield 3
  }),
})
type Options = Partial<FastifyTRPCPluginOptions<typeof router>['trpcOptions']>

/** The router on an app, by the official plugin or by ours. */
async function serve(
  plugin: 'official' | 'ours',
  options: Options = {},
  app: FastifyInstance = Fastify(),
): Promise<FastifyInstance> {
  const all = { prefix: '/trpc', trpcOptions: { router, ...options } }
  if (plugin === 'ours') await app.register(trpcPlugin, all)
  else await app.register(fastifyTRPCPlugin, all)
  onTestFinished(() => app.close())
  return app
}

const listen = (app: FastifyInstance): Promise<string> => app.listen({ port: 0, host: '127.0.0.1' })

/** Asks both, over real connections; gives the official answer and ours. */
async function askBoth(path: string, headers: Record<string, string> = {}): Promise<Response[]> {
  const addresses = await Promise.all([serve('official').then(listen), serve('ours').then(listen)])
  return Promise.all(addresses.map((address) => fetch(`${address}/trpc/${path}`, { headers })))
}

const STREAM = { 'trpc-accept': 'application/jsonl' }

it('Length', async () => {
  const answers = await askBoth('hello')
  expect(answers.map(({ headers }) => headers.get('transfer-encoding'))).toEqual(['chunked', null])
  expect(answers.map(({ headers }) => headers.get('content-length'))).toEqual([null, '27'])
  const [official, ours] = await Promise.all(answers.map((answer) => answer.text()))
  expect(ours).toBe(official)
  const responseMeta = (): { headers: Record<string, string> } => ({ headers: { 'content-length': '5' } })
  const served = [await serve('official', { responseMeta }), await serve('ours', { responseMeta })]
  const bodies = await Promise.all(served.map(async (app) => fetch(`${await listen(app)}/trpc/hello`)))
  expect(await Promise.all(bodies.map((body) => body.text()))).toEqual([official!.slice(0, 5), official])
})

it('Hooks', async () => {
  const seen: unknown[] = []
  for (const plugin of ['official', 'ours'] as const) {
    const app = Fastify()
    app.addHook('onSend', (_request, _reply, payload, done) => {
      seen.push(payload)
      done(null, payload)
    })
    await serve(plugin, {}, app)
    await app.inject('/trpc/hello')
  }
  expect(seen).toEqual([expect.any(Response), '{"result":{"data":"world"}}'])
})

describe('ETags and compression', () => {
  it('have an ETag, and get 304 with it', async () => {
    const seen: unknown[] = []
    for (const plugin of ['official', 'ours'] as const) {
      const app = Fastify()
      await app.register(etag)
      await serve(plugin, { responseMeta: () => ({ headers: { 'set-cookie': 'a=1' } }) }, app)
      const first = await app.inject('/trpc/hello')
      const tag = first.headers.etag ?? '"none"'
      const { statusCode, body, headers } = await app.inject({ url: '/trpc/hello', headers: { 'if-none-match': tag } })
      seen.push([first.headers.etag, statusCode, body, headers['vary'], headers['set-cookie']])
    }
    const json = '{"result":{"data":"world"}}'
    expect(seen).toEqual([
      [undefined, 200, json, 'trpc-accept, accept', 'a=1'],
      [expect.stringMatching(/^"[\w+/=]+"$/), 304, '', 'trpc-accept, accept', 'a=1'],
    ])
  })

  it('are compressed from the threshold on', async () => {
    const seen: unknown[] = []
    for (const plugin of ['official', 'ours'] as const) {
      const app = Fastify()
      await app.register(compress, { threshold: 1000 })
      await serve(plugin, {}, app)
      for (const path of ['hello', 'long']) {
        const answer = await app.inject({ url: `/trpc/${path}`, headers: { 'accept-encoding': 'gzip' } })
        const { 'content-encoding': encoding, vary } = answer.headers
        const isGzip = encoding === 'gzip'
        seen.push([path, encoding, vary, (isGzip ? gunzipSync(answer.rawPayload) : answer.rawPayload).length])
      }
    }
    const vary = 'trpc-accept, accept'
    expect(seen.slice(2)).toEqual([
      ['hello', undefined, vary, 27],
      ['long', 'gzip', `${vary}, accept-encoding`, 2022],
    ])
    expect(seen[0]).toEqual(['hello', 'gzip', expect.anything(), 27])
  })
})

it('Parsers', async () => {
  const types: unknown[] = []
  for (const plugin of [
    fp<object>((app, options, done) => fastifyTRPCPlugin(app, options as never, done)),
    fp(trpcPlugin<typeof router>, { fastify: '5.x', name: 'trpc-fastify' }),
  ]) {
    const app = Fastify()
    onTestFinished(() => app.close())
    app.post('/plain', async ({ body }) => typeof body)
    await app.register(plugin as typeof trpcPlugin<typeof router>, { trpcOptions: { router } })
    const { body } = await app.inject({ method: 'POST', url: '/plain', body: { a: 1 } })
    types.push(body)
    expect((await app.inject('/hello')).json()).toEqual({ result: { data: 'world' } })
  }
  expect(types).toEqual(['string', 'object'])
})

describe('Streamed batches', () => {
  it('have fewer lines, and a length if nothing is pending', async () => {
    const [official, ours] = await askBoth('hello?batch=1', STREAM)
    expect([official!.headers.get('content-length'), ours!.headers.get('content-length')]).toEqual([null, '38'])
    expect((await official!.text()).trim().split('\n')).toHaveLength(4)
    expect(await ours!.text()).toBe('{"0":[[{"result":{"data":"world"}}]]}\n')
  })

  it('continue after a value that cannot be serialized', async () => {
    const official = await serve('official').then(listen)
    const broken = fetch(`${official}/trpc/unserializable,hello?batch=1`, { headers: STREAM })
    await expect(HAS.headWithFirstChunk ? broken : broken.then((head) => head.text())).rejects.toThrow(
      HAS.headWithFirstChunk ? 'fetch failed' : 'terminated',
    )
    const ours = await serve('ours').then(listen)
    const answer = await fetch(`${ours}/trpc/unserializable,hello?batch=1`, { headers: STREAM })
    const [failed, hello] = Object.values(JSON.parse(await answer.text()) as Record<string, [[object]]>)
    expect(failed).toMatchObject([[{ error: { data: { code: 'INTERNAL_SERVER_ERROR', path: 'unserializable' } } }]])
    expect(hello).toEqual([[{ result: { data: 'world' } }]])
  })
})

it('Subscriptions', async () => {
  const [official, ours] = await Promise.all(
    (['official', 'ours'] as const).map(async (plugin) => chunksOf(`${await listen(await serve(plugin))}/trpc/events`)),
  )
  expect(ours).toEqual([
    'event: connected\ndata: {}\n\n\ndata: 1\n\n\ndata: 2\n\n\n',
    'data: 3\n\n\nevent: return\ndata: \n\n\n',
  ])
  expect(official!.length).toBeGreaterThan(ours!.length)
  expect(ours!.join('')).toBe(official!.join(''))
})

/** What a server has sent, as it has cut it. */
async function chunksOf(url: string): Promise<string[]> {
  const request = get(url)
  const [response] = (await once(request, 'response')) as [IncomingMessage]
  const chunks: string[] = []
  response.on('data', (chunk) => chunks.push(String(chunk)))
  await once(response, 'end')
  return chunks
}

it('HTTP/2', async () => {
  const app = Fastify({ http2: true, forceCloseConnections: true }) as unknown as FastifyInstance
  const client = connect(await serve('ours', {}, app).then(listen))
  onTestFinished(() => client.destroy())
  const request = client.request({ ':path': '/trpc/hello?batch=1', ...STREAM })
  const chunks = request.setEncoding('utf8').toArray()
  const [head] = (await once(request, 'response')) as [Record<string, unknown>]
  expect(head[':status']).toBe(200)
  expect((await chunks).join('')).toBe('{"0":[[{"result":{"data":"world"}}]]}\n')
})

it('Order of onError', async () => {
  const told: Record<string, string[]> = { official: [], ours: [] }
  for (const plugin of ['official', 'ours'] as const) {
    const onError: NonNullable<Options['onError']> = ({ error }) => told[plugin]!.push(error.message)
    const app = await serve(plugin, { onError })
    await app.inject('/trpc/failsAfterInput,fails?batch=1')
  }
  expect(told).toEqual({ official: ['at once', 'after input'], ours: ['after input', 'at once'] })
})

it('Stack traces', async () => {
  const stacks: string[][] = []
  for (const plugin of ['official', 'ours'] as const) {
    const answer = await serve(plugin).then((app) => app.inject('/trpc/fails'))
    stacks.push(answer.json<{ error: { data: { stack: string } } }>().error.data.stack.split('\n'))
  }
  const [official, ours] = stacks
  expect(ours![0]).toBe(official![0])
  expect(ours).not.toEqual(official)
  expect(ours!.join('\n')).toContain('compile.ts')
})

it('Options', async () => {
  const misspelt = { prefx: '/trpc', trpcOptions: { router } }
  const app = Fastify()
  await app.register(fastifyTRPCPlugin, misspelt)
  const answer = await app.inject('/hello')
  expect(answer.statusCode).toBe(200)
  await expect(Fastify().register(trpcPlugin, misspelt)).rejects.toMatchObject({ code: 'TRPC_FASTIFY_INVALID_OPTION' })
})

it('Documents', async () => {
  const paths = await Promise.all(
    (['official', 'ours'] as const).map(async (plugin) => {
      const app = Fastify()
      onTestFinished(() => app.close())
      await app.register(swagger, { openapi: { openapi: '3.1.0' } })
      await serve(plugin, {}, app)
      await app.ready()
      return Object.keys(app.swagger().paths!)
    }),
  )
  expect(paths).toEqual([['/trpc/{path}'], []])
})
