// What happens around calls beside tRPC's own: rate limits, timeouts, limits of batches, metrics and logs. It
// is the same whichever way a call comes: on the fast path, by tRPC's own handler, and over a WebSocket.

import { once } from 'node:events'
import rateLimit from '@fastify/rate-limit'
import websocket from '@fastify/websocket'
import { initTRPC, TRPCError } from '@trpc/server'
import { observable } from '@trpc/server/observable'
import Fastify, { type FastifyInstance, type FastifyServerOptions } from 'fastify'
import { type CallRecord, trpcPlugin, type TrpcPluginOptions } from 'trpc-fastify'
import { describe, expect, it, onTestFinished } from 'vitest'
import { Journal } from '../../helpers/journal.ts'
import { FAST_PATHS } from '../../helpers/fast-paths.ts'
import { batchOf } from '../../helpers/ruled-app.ts'
import { routing } from '../../helpers/peer-versions.ts'
import { overWebSocket } from '../../helpers/over-web-socket.ts'

type Options = Omit<TrpcPluginOptions<ReturnType<typeof makeRouter>>, 'trpcOptions'>

/** Procedures that tell when they begin and end, and that wait until the test lets them go. */
function makeRouter(journal: Journal, gate: Promise<unknown>) {
  const t = initTRPC.create({ isDev: false })
  return t.router({
    hello: t.procedure.query(() => 'world'),
    other: t.procedure.query(() => 'other'),
    echo: t.procedure.input(String).query(({ input }) => input),
    nothing: t.procedure.query(() => undefined),
    refused: t.procedure.query(() => {
      throw new TRPCError({ code: 'FORBIDDEN', message: 'Not for you' })
    }),
    broken: t.procedure.query(() => {
      throw new Error('broken')
    }),
    throwsNothing: t.procedure.query(() => {
      // oxlint-disable-next-line only-throw-error -- users do such things
      throw undefined
    }),
    gated: t.procedure
      .input((value) => value)
      .query(async ({ path, batchIndex }) => {
        journal.add(`${path} ${batchIndex} begins`)
        await gate
        journal.add(`${path} ${batchIndex} ends`)
        return batchIndex
      }),
    endless: t.procedure.query(async ({ signal }) => {
      await once(signal!, 'abort')
      journal.add(`aborted: ${String(signal!.reason)}`)
      return 'too late'
    }),
    count: t.procedure.subscription(async function* () {
      yield 1
      yield 2
    }),
    countBroken: t.procedure.subscription(async function* () {
      yield 1
      throw new Error('broken')
    }),
    observed: t.procedure.subscription(() =>
      observable<number>((observer) => {
        observer.next(1)
        setImmediate(() => observer.complete())
      }),
    ),
    wait: t.procedure.subscription(async function* ({ signal }) {
      yield 'first'
      await once(signal!, 'abort')
    }),
  })
}

interface Served {
  readonly app: FastifyInstance
  readonly journal: Journal
  readonly open: () => void
  /** Calls that have ended, without what differs from run to run. */
  readonly ended: Journal<string>
}

async function serve(
  makeOptions: (app: FastifyInstance) => Options,
  fastify: FastifyServerOptions = {},
): Promise<Served> {
  const journal = new Journal()
  const ended = new Journal<string>()
  const gate = Promise.withResolvers<undefined>()
  const app = Fastify({ ...routing({ maxParamLength: 1000 }), forceCloseConnections: true, ...fastify })
  onTestFinished(() => app.close())
  await app.register(rateLimit, { global: false })
  await app.register(websocket)
  await app.register(trpcPlugin<ReturnType<typeof makeRouter>>, {
    prefix: '/trpc',
    useWSS: true,
    trpcOptions: { router: makeRouter(journal, gate.promise) },
    observers: [
      {
        callEnded({ path, type, batchIndex, duration, error, req }: CallRecord) {
          expect(duration).toBeGreaterThanOrEqual(0)
          expect(req.server).toBeDefined()
          ended.add(`${type} ${path} ${batchIndex}: ${error ? `${error.code} ${error.message}` : 'OK'}`)
        },
      },
    ],
    ...makeOptions(app),
  })
  return { app, journal, ended, open: () => gate.resolve(undefined) }
}

const STREAM = { 'trpc-accept': 'application/jsonl' }

describe.each(FAST_PATHS)('with fastPath %s', (fastPath) => {
  describe('rateLimit', () => {
    const limited = (max: number) => (app: FastifyInstance) => ({
      fastPath,
      procedures: { hello: { rateLimit: app.createRateLimit({ max, timeWindow: '1 minute' }) } },
    })
    const refusal = {
      error: { message: 'Rate limit exceeded, retry in 60 seconds', code: -32029 },
    }

    it('rejects calls above the limit with retry-after', async () => {
      const { app, ended } = await serve(limited(2))
      for (let count = 0; count < 2; count++) expect((await app.inject('/trpc/hello')).statusCode).toBe(200)
      const refused = await app.inject('/trpc/hello')
      expect(refused.statusCode).toBe(429)
      expect(refused.json()).toMatchObject(refusal)
      expect(refused.headers['retry-after']).toBe('60')
      expect((await app.inject('/trpc/other')).statusCode).toBe(200)
      expect(ended.entries[2]).toBe('query hello 0: TOO_MANY_REQUESTS Rate limit exceeded, retry in 60 seconds')
    })

    it.each([{}, STREAM])('counts each call of a batch: %o', async (headers) => {
      const { app, ended } = await serve(limited(2))
      const answer = await app.inject({ url: batchOf('hello', 'other', 'hello', 'hello', 'hello'), headers })
      expect(answer.body.match(/Rate limit exceeded/g)).toHaveLength(2)
      expect(ended.entries.filter((entry) => entry.includes('hello') && entry.endsWith('OK'))).toHaveLength(2)
      expect(ended.entries).toContain('query other 1: OK')
    })

    it('counts requests of each form', async () => {
      const { app } = await serve(limited(1))
      await app.inject('/trpc/hello?input=%zz')
      for (const url of ['/trpc/%2568ello', '/trpc/hello', '/trpc/hello#x', batchOf('hello')]) {
        expect((await app.inject(url)).statusCode).toBe(429)
      }
    })

    it('applies to WebSockets', async () => {
      const { app } = await serve(limited(1))
      const answers = await overWebSocket(app, 'hello', 'hello')
      expect(answers).toHaveLength(2)
      expect(answers).toContainEqual({ id: 0, result: { type: 'data', data: 'world' } })
      expect(answers).toContainEqual({ id: 1, error: expect.objectContaining({ code: -32029 }) as unknown })
    })

    it('supports bans and an allow list', async () => {
      const { app } = await serve((server) => ({
        fastPath,
        procedures: {
          hello: { rateLimit: server.createRateLimit({ max: 1, ban: 0, timeWindow: 60_000 }) },
          other: { rateLimit: server.createRateLimit({ max: 0, allowList: ['127.0.0.1'], timeWindow: 60_000 }) },
        },
      }))
      await app.inject('/trpc/hello')
      expect((await app.inject('/trpc/hello')).statusCode).toBe(403)
      expect((await app.inject('/trpc/other')).statusCode).toBe(200)
    })

    it('fails the call if the limiter fails', async () => {
      const { app } = await serve(() => ({
        fastPath,
        procedures: { hello: { rateLimit: () => Promise.reject(new Error('Redis is away')) } },
      }))
      const answer = await app.inject(batchOf('hello', 'other'))
      expect(answer.statusCode).toBe(207)
      expect(answer.json()).toMatchObject([{ error: { message: 'Redis is away' } }, { result: { data: 'other' } }])
    })
  })

  describe('timeout', () => {
    const short = {
      fastPath,
      procedures: { endless: { timeout: 20 }, count: { timeout: 1 }, gated: { timeout: 60_000 } },
    }

    it('fails the call and aborts its signal, and no other call of the batch', async () => {
      const { app, journal } = await serve(() => short)
      const answer = await app.inject(batchOf('endless', 'hello'))
      expect(answer.json()).toMatchObject([
        { error: { message: 'No result within 20 ms', data: { code: 'TIMEOUT', httpStatus: 408 } } },
        { result: { data: 'world' } },
      ])
      expect(journal.entries).toEqual(['aborted: TRPCError: No result within 20 ms'])
    })

    it('does not fail faster calls and subscriptions', async () => {
      const { app, open } = await serve(() => short)
      open()
      expect((await app.inject('/trpc/gated')).json()).toEqual({ result: { data: 0 } })
      expect((await app.inject('/trpc/count')).body).toContain('data: 2')
    })

    it('applies to WebSockets', async () => {
      const { app } = await serve(() => short)
      const [answer] = await overWebSocket(app, 'endless')
      expect(answer).toMatchObject({ id: 0, error: { data: { code: 'TIMEOUT' } } })
    })
  })

  describe('batchConcurrency', () => {
    it.each([{}, STREAM])('limits concurrent calls, in their order: %o', async (headers) => {
      const { app, journal, open } = await serve(() => ({ fastPath, batchConcurrency: 2 }))
      const answered = app.inject({ url: batchOf('gated', 'gated', 'gated', 'hello', 'gated'), headers })
      await journal.until('gated 1 begins')
      // Time for more of them to begin, if they could.
      for (let turn = 0; turn < 10; turn++) await new Promise((resolve) => setImmediate(resolve))
      expect(journal.entries).toEqual(['gated 0 begins', 'gated 1 begins'])
      open()
      expect((await answered).statusCode).toBe(200)
      let running = 0
      for (const entry of journal.entries.map(String)) {
        running += entry.endsWith('begins') ? 1 : -1
        expect(running).toBeLessThanOrEqual(2)
      }
      expect(journal.entries).toHaveLength(8)
    })

    it('applies to each batch alone', async () => {
      const { app, journal, open } = await serve(() => ({ fastPath, batchConcurrency: 1 }))
      const answered = Promise.all([app.inject(batchOf('gated', 'gated')), app.inject(batchOf('gated', 'gated'))])
      await journal.untilSome((entry) => entry === 'gated 0 begins', 2)
      open()
      for (const { statusCode } of await answered) expect(statusCode).toBe(200)
    })
  })

  describe('maxBatchResponseSize', () => {
    const url = (...lengths: number[]): string =>
      `${batchOf(...lengths.map(() => 'echo'))}&input=${JSON.stringify(Object.fromEntries(lengths.map((length, index) => [index, 'x'.repeat(length)])))}`

    it.each([{}, STREAM])('fails calls whose results exceed the limit: %o', async (headers) => {
      const { app, ended } = await serve(() => ({ fastPath, maxBatchResponseSize: 100 }))
      const answer = await app.inject({ url: url(48, 60, 40, 10), headers })
      expect(answer.body.match(/The results of the batch have more than 100 bytes/g)).toHaveLength(2)
      // With their quotes, the first has 50 bytes and the third 42: there is no place for the last one.
      expect(ended.entries).toEqual([
        'query echo 0: OK',
        'query echo 1: PAYLOAD_TOO_LARGE The results of the batch have more than 100 bytes',
        'query echo 2: OK',
        'query echo 3: PAYLOAD_TOO_LARGE The results of the batch have more than 100 bytes',
      ])
    })

    it('ignores single calls, and counts values without JSON as 0 bytes', async () => {
      const { app } = await serve(() => ({ fastPath, maxBatchResponseSize: 1 }))
      expect((await app.inject('/trpc/hello')).statusCode).toBe(200)
      expect((await app.inject(batchOf('nothing', 'nothing'))).json()).toEqual([{ result: {} }, { result: {} }])
    })
  })

  describe('observers', () => {
    it('get a record of each call with its outcome', async () => {
      const { app, ended } = await serve(() => ({ fastPath }))
      await app.inject(batchOf('hello', 'refused', 'broken', 'throwsNothing', 'missing'))
      expect(ended.entries.toSorted()).toEqual([
        'query broken 2: INTERNAL_SERVER_ERROR broken',
        'query hello 0: OK',
        'query refused 1: FORBIDDEN Not for you',
        expect.stringMatching(/^query throwsNothing 3: INTERNAL_SERVER_ERROR/),
      ])
    })

    it('get a record of a subscription after its end', async () => {
      const { app, ended } = await serve(() => ({ fastPath }))
      for (const path of ['count', 'countBroken', 'observed', 'hello']) await app.inject(`/trpc/${path}`)
      expect(ended.entries).toEqual([
        'subscription count 0: OK',
        'subscription countBroken 0: INTERNAL_SERVER_ERROR broken',
        'subscription observed 0: OK',
        'query hello 0: OK',
      ])
    })

    it('get a record of a subscription whose client disconnected', async () => {
      const { app, ended } = await serve(() => ({ fastPath }))
      const address = await app.listen({ port: 0, host: '127.0.0.1' })
      const client = new AbortController()
      const response = await fetch(`${address}/trpc/wait`, { signal: client.signal })
      await response.body!.getReader().read()
      expect(ended.entries).toEqual([])
      client.abort()
      await ended.until('subscription wait 0: OK')
    })

    it('break no response if one throws, and the log has its first error', async () => {
      const lines = new Journal<string>()
      const seen: string[] = []
      const { app } = await serve(
        () => ({
          fastPath,
          observers: [
            {
              callEnded() {
                throw new Error('No metrics')
              },
            },
            { callEnded: ({ path }) => void seen.push(path) },
            { callEnded: () => Promise.reject(new Error('No connection')) },
          ],
        }),
        { logger: { level: 'error', stream: { write: (line) => lines.add(line) } } },
      )
      expect((await app.inject('/trpc/hello')).statusCode).toBe(200)
      expect((await app.inject('/trpc/hello')).statusCode).toBe(200)
      expect(seen).toEqual(['hello', 'hello'])
      const msg = 'observer threw; further errors of this method are not logged'
      expect(lines.entries.map((line) => JSON.parse(line) as unknown)).toEqual([
        expect.objectContaining({ msg, observer: 'observers[0].callEnded' }),
        expect.objectContaining({ msg, observer: 'observers[2].callEnded' }),
      ])
    })
  })

  it('callLogLevel logs each call with its path, duration and outcome', async () => {
    const lines = new Journal<string>()
    const { app } = await serve(() => ({ fastPath, callLogLevel: 'info' }), {
      logger: { level: 'info', stream: { write: (line) => lines.add(line) } },
      disableRequestLogging: true,
    })
    await app.inject(batchOf('hello', 'refused'))
    const logged = lines.entries
      .map((line) => JSON.parse(line) as Record<string, unknown>)
      .toSorted((one, other) => Number(one['batchIndex']) - Number(other['batchIndex']))
    expect(logged).toEqual(
      [
        { path: 'hello', outcome: 'OK' },
        { path: 'refused', outcome: 'FORBIDDEN' },
      ].map((call, batchIndex) =>
        expect.objectContaining({
          ...call,
          batchIndex,
          type: 'query',
          level: 30,
          msg: 'tRPC call ended',
          duration: expect.any(Number) as unknown,
          reqId: expect.any(String) as unknown,
        }),
      ),
    )
  })
})
