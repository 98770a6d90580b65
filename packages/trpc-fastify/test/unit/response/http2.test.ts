// tRPC's own client over HTTP/2, in clear text and over TLS, against tRPC's own adapter over HTTP/1.1.

import { once } from 'node:events'
import { type ClientHttp2Session, type ClientHttp2Stream, connect, constants } from 'node:http2'
import { createTRPCClient, httpBatchLink, httpBatchStreamLink, httpLink, httpSubscriptionLink } from '@trpc/client'
import { initTRPC, TRPCError } from '@trpc/server'
import { EventSource } from 'eventsource'
import Fastify, { type FastifyInstance } from 'fastify'
import { trpcPlugin, type TrpcPluginOptions } from 'trpc-fastify'
import { Agent, fetch as undiciFetch, FormData as UndiciFormData, type RequestInit } from 'undici'
import { afterAll, beforeAll, describe, expect, it, onTestFinished } from 'vitest'
import { FAST_PATHS } from '../../helpers/fast-paths.ts'
import { type BothServers, type Server, serveBoth } from '../../helpers/both-servers.ts'
import { type Connection, errorsTold, type Fetch, outcome, outcomes, overHttp } from '../../helpers/connections.ts'
import { serverOptions } from '../../helpers/differential/over-http2.ts'
import { Journal } from '../../helpers/journal.ts'
import { type AppRouter, makeRouter, optionsFor } from '../../helpers/router.ts'

const WAYS = (['h2c', 'h2'] as const).flatMap((transport) => FAST_PATHS.map((fastPath) => ({ transport, fastPath })))
/** Undici knows its own forms, and tRPC's client those of Node. */
function withOwnForm(init: { body?: unknown } = {}): RequestInit {
  if (!(init.body instanceof FormData)) return init as RequestInit
  const body = new UndiciFormData()
  for (const [name, value] of init.body) body.append(name, value)
  return { ...init, body }
}

const LINKS = { httpLink, httpBatchLink, httpBatchStreamLink }

describe.each(WAYS)('a client over $transport, with fastPath $fastPath', ({ transport, fastPath }) => {
  let both: BothServers
  const agent = new Agent({
    allowH2: true,
    pipelining: 100,
    ...(transport === 'h2c' ? { useH2c: true } : { connect: { rejectUnauthorized: false } }),
  })
  const overHttp2: Fetch = (input, init) => undiciFetch(input as string, { ...withOwnForm(init), dispatcher: agent })
  const fetchFor = ({ name }: Server): Fetch => (name === 'official' ? fetch : overHttp2)
  const connectBy = (server: Server, link: keyof typeof LINKS = 'httpBatchStreamLink'): Connection =>
    overHttp((options) => LINKS[link]<AppRouter>(options), fetchFor(server))(server)

  beforeAll(async () => {
    const router = makeRouter()
    both = await serveBoth<AppRouter>(
      (journal) => ({ fastPath, trpcOptions: optionsFor(router, journal) }),
      serverOptions(transport),
    )
  })
  afterAll(async () => {
    await agent.destroy()
    await both.close()
  })

  it('uses HTTP/2', async () => {
    const versions: string[] = []
    const { app, url } = both.ours
    app.server.once('request', ({ httpVersion }: { httpVersion: string }) => versions.push(httpVersion))
    await overHttp2(`${url}/nothing`)
    expect(versions).toEqual(['2.0'])
  })

  it.each(Object.keys(LINKS) as (keyof typeof LINKS)[])('gets results and errors by %s', async (link) => {
    const results = await both.onBoth(async (server) => {
      const { client } = connectBy(server, link)
      const found = await outcomes({
        greet: client.greet.query({ name: 'Zoë' }),
        nothing: client.nothing.query(),
        refused: client.refused.query(7),
        broken: client.broken.query(),
        add: client.add.mutate({ a: 1, b: 2 }),
        reject: client.reject.mutate(),
      })
      return { found, told: errorsTold(server) }
    })
    expect(results.told).toHaveLength(3)
    expect(results.found).toMatchObject({ greet: { data: 'Hello Zoë' }, add: { data: 3 } })
  })

  it('gets each result of a streamed batch as soon as it is ready', async () => {
    const order = await both.onBoth(async (server) => {
      const { client } = connectBy(server)
      const arrived: string[] = []
      const slow = client.when.query('second is there').then((data) => arrived.push(data))
      const quick = client.when.query('asked').then((data) => arrived.push(data))
      server.journal.add('asked')
      await quick
      server.journal.add('second is there')
      await slow
      return arrived
    })
    expect(order).toEqual(['asked', 'second is there'])
  })

  it('iterates over the values of a procedure, and gets its error in mid-stream', async () => {
    const seen = await both.onBoth(async (server) => {
      const numbers: number[] = []
      const iterable = await connectBy(server).client.numbers.query({ to: 5, failAt: 3 })
      const end = await outcome(
        (async () => {
          for await (const { number } of iterable) {
            numbers.push(number)
            server.journal.add(`client has ${number}`)
          }
        })(),
      )
      return { numbers, end, told: errorsTold(server) }
    })
    expect(seen).toMatchObject({
      numbers: [1, 2],
      end: { failed: 'No 3' },
      told: [expect.stringContaining('CONFLICT')],
    })
  })

  it('gets nested promises', async () => {
    const results = await both.onBoth(async (server) => {
      const { now, later } = await connectBy(server).client.promises.query()
      server.journal.add('client waits')
      const { deeper, rejected } = await later
      return { now, deeper: await deeper, rejected: await outcome(rejected), told: errorsTold(server) }
    })
    expect(results).toMatchObject({ now: 1, deeper: 2, rejected: { failed: 'Not there' } })
    expect(results.told).toHaveLength(1)
  })

  it('subscribes, and reconnects with the id of its last event', async () => {
    const seen = await both.onBoth(async (server) => {
      const client = createTRPCClient<AppRouter>({
        links: [
          httpSubscriptionLink({
            url: server.url,
            EventSource: class extends EventSource {
              constructor(url: string | URL) {
                super(url, { fetch: async (...request) => fetchFor(server)(...(request as Parameters<Fetch>)) })
              }
            },
          }),
        ],
      })
      const data: unknown[] = []
      await new Promise<void>((resolve, reject) => {
        client.count.subscribe(
          { to: 3 },
          {
            onData(event) {
              data.push(event)
              server.journal.add(`client has ${event.id}`)
            },
            onComplete: resolve,
            onError: reject,
          },
        )
      })
      return data
    })
    expect(seen).toEqual([1, 2, 3].map((number) => ({ id: String(number), data: { number } })))
  })

  it('sends a form with a file', async () => {
    const form = new FormData()
    form.set('note', 'Über 100 %')
    form.set('file', new File(['content'], 'a file.txt', { type: 'text/plain' }))
    const results = await both.onBoth((server) => outcome(connectBy(server, 'httpLink').client.upload.mutate(form)))
    expect(results).toMatchObject({ data: { name: 'a file.txt', text: 'content' } })
  })
})

const t = initTRPC.context<{ journal: Journal }>().create({ isDev: false })
const LARGE = 'x'.repeat(64 * 1024)

/** Yields for ever, unless it is made to wait. */
async function* flood({ ctx: { journal } }: { ctx: { journal: Journal } }): AsyncGenerator<string> {
  try {
    for (;;) {
      journal.add('yields')
      yield LARGE
    }
  } finally {
    journal.add('ends')
  }
}

async function* waits({ ctx, signal }: { ctx: { journal: Journal }; signal?: AbortSignal | undefined }) {
  try {
    yield 'first'
    await once(signal!, 'abort')
  } finally {
    ctx.journal.add(`ends, aborted: ${signal!.aborted}`)
  }
}

const router = t.router({
  hello: t.procedure.query(() => 'world'),
  late: t.procedure.query(({ ctx }) => ({ late: ctx.journal.until('client waits') })),
  fails: t.procedure.query(({ ctx }) => ({
    late: ctx.journal.until('client waits').then(() => {
      throw new TRPCError({ code: 'CONFLICT' })
    }),
  })),
  waits: t.procedure.query(waits),
  waitsForIt: t.procedure.query(async ({ ctx, signal }) => {
    ctx.journal.add('called')
    await ctx.journal.until('client is gone')
    ctx.journal.add(`aborted: ${signal!.aborted}`)
  }),
  events: t.procedure.subscription(waits),
  flood: t.procedure.query(flood),
  floodOfEvents: t.procedure.subscription(flood),
})

interface Served {
  readonly app: FastifyInstance
  readonly journal: Journal
  readonly session: ClientHttp2Session
  readonly request: (path: string, headers?: Record<string, string>) => ClientHttp2Stream
}

async function serve(
  { transport, fastPath }: (typeof WAYS)[number],
  options: Partial<TrpcPluginOptions<typeof router>> = {},
  prepare: (app: FastifyInstance) => unknown = () => {},
): Promise<Served> {
  const journal = new Journal()
  const app = Fastify(serverOptions(transport)) as unknown as FastifyInstance
  await prepare(app)
  await app.register(trpcPlugin<typeof router>, {
    fastPath,
    ...options,
    prefix: '/trpc',
    trpcOptions: {
      router,
      createContext: () => ({ journal }),
      onError: ({ error, path }) => journal.add(`onError: ${path} ${error.code}`),
      ...options.trpcOptions,
    },
  })
  const address = await app.listen({ port: 0, host: '127.0.0.1' })
  const session = connect(address, { rejectUnauthorized: false })
  onTestFinished(async () => {
    session.destroy()
    await app.close()
  })
  return {
    app,
    journal,
    session,
    request(path, headers = {}) {
      const stream = session.request({ ':path': `/trpc/${path}`, ...headers })
      stream.setEncoding('utf8').on('error', () => {}) // The code of the reset tells.
      return stream
    },
  }
}

const STREAM = { 'trpc-accept': 'application/jsonl' }

/** Reads a stream to its end. */
async function read(
  stream: ClientHttp2Stream,
): Promise<{ head: Record<string, unknown>; text: string; reset: number }> {
  let text = ''
  let head: Record<string, unknown> = {}
  stream.on('response', (headers) => (head = headers)).on('data', (chunk: string) => (text += chunk))
  await new Promise((resolve) => stream.once('close', resolve))
  return { head, text, reset: stream.rstCode ?? -1 }
}

describe.each(WAYS)('over $transport, with fastPath $fastPath', (way) => {
  const CONNECTION_HEADERS = {
    connection: 'close',
    'keep-alive': 'timeout=5',
    'proxy-connection': 'close',
    'transfer-encoding': 'chunked',
    upgrade: 'h2c',
    te: 'gzip',
  }
  const adders: Record<string, (app: FastifyInstance) => unknown> = {
    onRequest: (app) => app.addHook('onRequest', async (_request, reply) => void reply.headers(CONNECTION_HEADERS)),
    onSend: (app) => app.addHook('onSend', async (_request, reply) => void reply.headers(CONNECTION_HEADERS)),
    'onSend that throws': (app) =>
      app.addHook('onSend', async (_request, reply) => {
        reply.headers(CONNECTION_HEADERS)
        if (reply.statusCode !== 500) throw new Error('onSend')
      }),
    raw: (app) =>
      app.addHook('onRequest', async (_request, { raw }) => void raw.setHeader('transfer-encoding', 'chunked')),
  }

  describe.each(Object.entries(adders))('headers about the connection by a hook: %s', (name, add) => {
    it.each([
      ['GET', 'hello', 200],
      // As tRPC responds to it.
      ['HEAD', 'hello', 204],
      ['GET', 'unknown', 404],
      ['GET', 'hello?batch=1', 200],
    ])('%s %s removes them', async (method, path, status) => {
      const { session } = await serve(way, {}, add)
      const stream = session.request({ ':method': method, ':path': `/trpc/${path}` })
      const { head, reset } = await read(stream)
      expect(head[':status']).toBe(name.endsWith('throws') ? 500 : status)
      expect(Object.keys(CONNECTION_HEADERS).filter((header) => header in head)).toEqual([])
      expect(reset).toBe(constants.NGHTTP2_NO_ERROR)
    })
  })

  it('responseMeta cannot set headers about the connection', async () => {
    const trpcOptions = { router, createContext: () => ({ journal: new Journal() }) }
    const responseMeta = (): object => ({ headers: CONNECTION_HEADERS })
    const { request } = await serve(way, { trpcOptions: { ...trpcOptions, responseMeta } })
    for (const [path, headers] of [['hello'], ['hello?batch=1', STREAM], ['unknown']] as const) {
      const { head, reset } = await read(request(path, headers))
      expect(Object.keys(CONNECTION_HEADERS).filter((header) => header in head)).toEqual([])
      expect(reset).toBe(constants.NGHTTP2_NO_ERROR)
    }
  })

  it('a late value of a streamed batch arrives', async () => {
    const { request, journal } = await serve(way)
    const stream = request('hello,late?batch=1', STREAM)
    await once(stream, 'response')
    journal.add('client waits')
    const { text, reset } = await read(stream)
    expect(reset).toBe(constants.NGHTTP2_NO_ERROR)
    expect(text.trim().split('\n').length).toBeGreaterThan(1)
  })

  it('calls onError once for a late error', async () => {
    const { request, journal } = await serve(way)
    const stream = request('fails?batch=1', STREAM)
    await once(stream, 'response')
    journal.add('client waits')
    const { reset } = await read(stream)
    expect(reset).toBe(constants.NGHTTP2_NO_ERROR)
    expect(journal.entries.filter((entry) => entry !== 'client waits')).toEqual(['onError: undefined CONFLICT'])
  })

  it('resets a stream that fails, so that it does not look complete', async () => {
    const journal = new Journal()
    const onError = (): never => {
      throw new Error('onError')
    }
    const { request } = await serve(way, { trpcOptions: { router, createContext: () => ({ journal }), onError } })
    const stream = request('fails?batch=1', STREAM)
    await once(stream, 'response')
    journal.add('client waits')
    const { reset } = await read(stream)
    expect(reset).toBe(constants.NGHTTP2_INTERNAL_ERROR)
  })

  it.each([
    ['a streamed query', 'waits?batch=1', STREAM],
    ['a subscription', 'events', {}],
  ])('%s ends when its client disconnects', async (_name, path, headers) => {
    const { request, journal } = await serve(way)
    const stream = request(path, headers)
    await once(stream, 'data')
    stream.close(constants.NGHTTP2_CANCEL)
    await journal.until('ends, aborted: true')
    expect(journal.entries).toEqual(['ends, aborted: true'])
  })

  it('the signal is already aborted if it is first read after the client disconnected', async () => {
    const { request, journal, app } = await serve(way)
    app.server.once('stream', (stream) => stream.once('close', () => journal.add('client is gone')))
    const stream = request('waitsForIt')
    await journal.until('called')
    stream.close(constants.NGHTTP2_CANCEL)
    await journal.untilSome((entry) => String(entry).startsWith('aborted: '))
    expect(journal.entries.at(-1)).toBe('aborted: true')
  })

  it('a subscription ends when the app closes', async () => {
    const { app, request, session, journal } = await serve(way, { endStreamsOnClose: true })
    const stream = request('events')
    await once(stream, 'data')
    // Node 22 waits for the client to close its session, see docs/operations.md#shutdown.
    stream.once('close', () => session.close())
    const closed = app.close()
    await journal.until('ends, aborted: true')
    await closed
    expect(stream.closed).toBe(true)
  })

  it.each([
    ['a streamed query', 'flood?batch=1', STREAM],
    ['a subscription', 'floodOfEvents', {}],
  ])('%s waits for a client that does not read, and ends when it disconnects', async (_name, path, headers) => {
    const { request, journal } = await serve(way)
    const stream = request(path, headers)
    await journal.untilSome((entry) => entry === 'yields', 2)
    const yielded = (): number => journal.entries.filter((entry) => entry === 'yields').length
    // It goes on until the windows and the buffers of both ends are full: it stands still for many turns then.
    for (let before = -1, still = 0; still < 200; still = yielded() === before ? still + 1 : 0) {
      before = yielded()
      await new Promise(setImmediate)
    }
    expect(yielded() * LARGE.length).toBeLessThan(64e6)
    stream.close(constants.NGHTTP2_CANCEL)
    await journal.until('ends')
  })
})
