// What is particular to `httpBatchStreamLink`; other files of this directory send their batches streamed too.

import { TRPCError } from '@trpc/server'
import { describe, expect, it } from 'vitest'
import {
  compare,
  type ComparedRequest,
  type Comparison,
  type Mount,
  titled,
} from '../../helpers/differential/compare.ts'
import { TRANSPORT } from '../../helpers/differential/over-http2.ts'
import { BROKEN_OFF } from '../../helpers/differential/exchange.ts'
import { STREAMED_AS_NULL } from '../../helpers/differential/known-differences.ts'
import { generated, iterable, later, rejectedLater, someTurns } from '../../helpers/differential/later.ts'
import type { Recorder } from '../../helpers/differential/recorder.ts'
import { echoMount, JSON_TYPE, STREAM } from '../../helpers/differential/requests.ts'
import { observed, observedTRPC } from '../../helpers/differential/router.ts'
import { readStream } from '../../helpers/differential/stream-content.ts'

type Config = Parameters<typeof observedTRPC>[1]

const refuse = (message = 'refused'): TRPCError => new TRPCError({ code: 'CONFLICT', message })
const thrown = (cause: unknown) => (): never => {
  throw cause
}

describe('lines', () => {
  describe('in their order', () => {
    const comparison = compare((recorder) => {
      const t = observedTRPC(recorder)
      const after = t.procedure.input((value) => value as number)
      const wait = async (rounds: number): Promise<void> => {
        for (let round = 0; round < rounds; round++) await someTurns()
      }
      const router = t.router({
        after: after.query(({ input }) => wait(input)),
        failingAfter: after.query(({ input }) => wait(input).then(thrown(refuse()))),
        ok: t.procedure.query(() => 'ok'),
      })
      return { router, options: observed(recorder) }
    })
    it.each([
      ['after,after,after', [3, 2, 1], ['2', '1', '0']],
      ['after,ok,after,ok', [2, 0, 1], ['1', '3', '2', '0']],
      ['after,failingAfter,after', [1, 2, 3], ['0', '1', '2']],
      ['failingAfter,after,failingAfter', [2, 3, 1], ['2', '0', '1']],
    ])('%s %j', async (path, rounds, expected) => {
      const input = JSON.stringify(Object.fromEntries(rounds.entries()))
      const { body } = await comparison.exchange(async (app) => {
        const url = `/trpc/${path}?batch=1&input=${encodeURIComponent(input)}`
        const { statusCode: status, headers, rawPayload } = await app.inject({ url, headers: STREAM })
        const { arrivals } = await readStream(rawPayload)
        return { status, headers, body: JSON.stringify(arrivals) }
      }, 'compiled')
      expect(JSON.parse(body)).toEqual(expected)
    })
  })

  describe('with spaces as pings', () => {
    let goOn: (value: string) => void
    const comparison = compare((recorder) => {
      const t = observedTRPC(recorder, { jsonl: { pingMs: 2 } })
      const router = t.router({
        waiting: t.procedure.query(() => new Promise((resolve) => (goOn = resolve))),
        ok: t.procedure.query(() => 'ok'),
      })
      return { router, options: observed(recorder) }
    })
    it.each(['waiting', 'ok,waiting'])('%s', async (path) => {
      const { body } = await comparison.exchange(async (app) => {
        const url = `/trpc/${path}?batch=1`
        const {
          statusCode: status,
          headers,
          stream,
        } = await app.inject({ url, headers: STREAM, payloadAsStream: true })
        let sent = ''
        for await (const chunk of stream().setEncoding('latin1')) {
          sent += String(chunk)
          if (sent.includes('  ')) goOn('waited')
        }
        return { status, headers, body: sent }
      }, 'compiled')
      expect(body).toContain('waited')
    })
  })

  describe('of another content type', () => {
    const comparison = compare((recorder) => {
      const t = observedTRPC(recorder, { jsonl: { contentType: 'application/jsonl' } })
      const router = t.router({ ok: t.procedure.query(() => 'ok'), slow: t.procedure.query(() => later('slow')) })
      return { router, options: observed(recorder) }
    })
    it.each(
      titled(
        ['ok', 'slow', 'ok,slow'].map((path) => ({ url: `/trpc/${path}?batch=1`, headers: STREAM, on: 'compiled' })),
      ),
    )('%s', async (_title, request) => {
      const { headers } = await comparison.request(request)
      expect(headers['content-type']).toBe('application/jsonl')
    })
  })
})

describe('requests for a stream', () => {
  const comparison = compare((recorder) => echoMount(recorder, { maxBatchSize: 3, allowMethodOverride: true }))
  const input = '&input={"0":1,"1":{"a":2}}'
  const all: ComparedRequest[] = [
    { url: `/trpc/query,plain?batch=1${input}`, headers: STREAM, on: 'compiled' },
    { url: '/trpc/query,query,query?batch=1', headers: STREAM, on: 'compiled' },
    { url: '/trpc/query,query,query,query?batch=1', headers: STREAM, on: 'batch' },
    { url: '/trpc/query,mutation?batch=1', headers: STREAM, on: 'batch' },
    { url: '/trpc/subscription?batch=1', headers: STREAM, on: 'subscription' },
    { url: '/trpc/query,subscription?batch=1', headers: STREAM, on: 'subscription' },
    { url: '/trpc/subscription', headers: STREAM, on: 'stream' },
    { url: '/trpc/query?input=1', headers: STREAM, on: 'stream' },
    { url: '/trpc/query,query', headers: STREAM, on: 'stream' },
    { url: '/trpc/unknown', headers: STREAM, on: 'stream' },
    { url: '/trpc/unknown?batch=1', headers: STREAM, on: 'procedure' },
    { url: '/trpc/query,unknown,failing?batch=1', headers: STREAM, on: 'procedure' },
    { url: '/trpc/mutation?batch=1', headers: STREAM, on: 'method' },
    { url: '/trpc/?batch=1', headers: STREAM, on: 'procedure' },
    { url: '/trpc/query,?batch=1', headers: STREAM, on: 'procedure' },
    { url: '/trpc/query?batch=2', headers: STREAM, on: 'stream' },
    { url: '/trpc/query?batch', headers: STREAM, on: 'stream' },
    { url: '/trpc/query?batch=1&input={', headers: STREAM, on: 'compiled' },
    { url: '/trpc/query?batch=1&input=[1]', headers: STREAM, on: 'compiled' },
    { url: '/trpc/query?batch=1&input=%', headers: STREAM, on: 'query' },
    {
      method: 'POST',
      url: '/trpc/query,failing?batch=1',
      headers: { ...STREAM, ...JSON_TYPE },
      body: '{"0":1}',
      on: 'compiled',
    },
    {
      method: 'POST',
      url: '/trpc/mutation?batch=1',
      headers: { ...STREAM, ...JSON_TYPE },
      body: '{"0":',
      on: 'compiled',
    },
    { method: 'POST', url: '/trpc/mutation?batch=1', headers: STREAM, body: '1', on: 'nothing' },
    { method: 'POST', url: '/trpc/mutation?batch=1', headers: STREAM, on: 'content-type' },
    { method: 'HEAD', url: '/trpc/query?batch=1', headers: STREAM, on: 'method' },
    { method: 'PUT', url: '/trpc/query?batch=1', headers: STREAM, on: 'method' },
    ...['application/jsonl', 'text/plain, application/jsonl', 'application/jsonl;q=1, */*'].flatMap(
      (accept): ComparedRequest[] => [
        { url: `/trpc/query,failing?batch=1${input}`, headers: { accept }, on: 'stream' },
        { url: '/trpc/query?input=1', headers: { accept }, on: 'stream' },
        { url: '/trpc/query,failing?batch=1', headers: { accept, ...STREAM }, on: 'compiled' },
        { url: '/trpc/query,failing?batch=1', headers: { accept, 'trpc-accept': 'application/json' }, on: 'stream' },
      ],
    ),
    ...['application/json', 'application/jsonl ', 'application/JSONL', 'application/jsonl, application/json'].map(
      (accept): ComparedRequest => ({
        url: '/trpc/query,failing?batch=1',
        headers: { 'trpc-accept': accept },
        on: 'stream',
      }),
    ),
  ]
  it.each(titled(all))('%s', async (_title, request) => {
    await comparison.request(request)
  })
})

describe('requests for a stream, with batching off', () => {
  const comparison = compare((recorder) => echoMount(recorder, { allowBatching: false }))
  const all: ComparedRequest[] = [
    { url: '/trpc/query?batch=1', headers: STREAM, on: 'batch' },
    { url: '/trpc/query,failing?batch=1', headers: STREAM, on: 'batch' },
    { url: '/trpc/query', headers: STREAM, on: 'stream' },
  ]
  it.each(titled(all))('%s', async (_title, request) => {
    await comparison.request(request)
  })
})

const CONTEXTS: Readonly<Record<string, () => unknown>> = {
  throwing: thrown(new Error('context')),
  throwingTRPC: thrown(refuse()),
  rejecting: () => Promise.reject(refuse()),
  rejectingLater: () => rejectedLater(new Error('context')),
  comingLater: () => later({ user: 'late' }),
}

describe.each(Object.entries(CONTEXTS))('a context that is %s, with responseMeta', (_, create) => {
  const comparison = compare((recorder) => {
    const { router, options } = echoMount(recorder)
    return { router, options: { ...options, createContext: create as never } }
  })
  it.each(
    titled(
      ['query', 'blind,failing,later'].map((path) => ({
        url: `/trpc/${path}?batch=1`,
        headers: STREAM,
        on: 'compiled',
      })),
    ),
  )('%s', async (_title, request) => {
    await comparison.request(request)
  })
})

/** A procedure beside one that is as it should be, and what fails about it. */
interface Failing {
  readonly resolve: () => unknown
  readonly config?: Config
  readonly options?: NonNullable<Mount['options']>
}

describe('known difference: errors that no line can carry', () => {
  const request: ComparedRequest = { url: '/trpc/one,ok?batch=1', headers: STREAM, on: 'compiled' }
  const serve = ({ resolve, config = {}, options }: Failing): Comparison =>
    compare((recorder) => {
      const t = observedTRPC(recorder, config)
      const router = t.router({ one: t.procedure.query(resolve), ok: t.procedure.query(() => 'ok') })
      return { router, options: { ...observed(recorder), ...options } }
    })
  const circular = (): object => {
    const value = {}
    return Object.assign(value, { value })
  }

  describe.each<[string, () => unknown]>([
    ['bigint', () => 1n],
    ['bigintInside', () => ({ a: [1n] })],
    ['circular', circular],
    ['throwingToJSON', () => ({ toJSON: thrown(new Error('toJSON')) })],
    ['toJSONThrowingString', () => ({ toJSON: thrown('a string') })],
    ['a bigint that comes later', () => later(1n)],
    ['a bigint in a promise', () => ({ soon: later(1n) })],
    ['a bigint that is yielded', () => generated(1, 2n, 3)],
  ])('%s', (_, resolve) => {
    const comparison = serve({ resolve })
    it('fails its call here, and the connection there', async () => {
      const { official, compiled, uncompiled } = await comparison.answers(request)
      expect(official).toEqual(BROKEN_OFF)
      expect(compiled.status).toBe(200)
      expect(compiled.body).toContain('INTERNAL_SERVER_ERROR')
      expect(JSON.parse(compiled.body)).toMatchObject({ 1: { data: 'ok' } })
      expect(uncompiled).toEqual(compiled)
    })
  })

  const failingFormatter: Config = { errorFormatter: thrown(new Error('formatter')) }
  const failingOnError = { onError: thrown(new Error('onError')) }
  const rejects = (): object => ({ soon: rejectedLater(refuse()) })

  describe.each<[string, Failing]>([
    ['an error formatter that throws', { resolve: thrown(refuse()), config: failingFormatter }],
    [
      'a shape that cannot be serialized',
      { resolve: thrown(refuse()), config: { errorFormatter: ({ shape }) => ({ ...shape, big: 1n }) } },
    ],
    ['onError that throws', { resolve: thrown(refuse()), options: failingOnError }],
  ])('%s', (_, failure) => {
    const comparison = serve(failure)
    it('gets 500 here before headers are out, and ends the connection there', async () => {
      const { official, compiled, uncompiled } = await comparison.answers(request)
      expect(official).toEqual(BROKEN_OFF)
      expect(compiled.status).toBe(500)
      expect(uncompiled).toEqual(compiled)
    })
  })

  describe.each<[string, Failing]>([
    [
      'an iterable that cannot be iterated',
      { resolve: () => ({ soon: later({ [Symbol.asyncIterator]: thrown(refuse()) }) }) },
    ],
    [
      'an iterator whose return() throws',
      { resolve: () => ({ soon: later(iterable(async () => ({ done: true }), { return: thrown(refuse()) })) }) },
    ],
    ['an error formatter that throws later', { resolve: rejects, config: failingFormatter }],
    ['onError that throws later', { resolve: rejects, options: failingOnError }],
  ])('%s', (_, failure) => {
    const comparison = serve(failure)
    it('ends the connection in both', async () => {
      expect(await comparison.request(request)).toEqual(BROKEN_OFF)
    })
  })
})

describe('known difference: undefined is streamed as null there', () => {
  const [name] = STREAMED_AS_NULL as [string]
  const comparison = compare((recorder) => {
    const t = observedTRPC(recorder)
    const router = t.router({ [name]: t.procedure.query(() => ({ toJSON: () => undefined })) })
    return { router, options: observed(recorder) }
  })
  it(`${name}: there, and as nothing here`, async () => {
    const { official, compiled, uncompiled } = await comparison.answers({
      url: `/trpc/${name}?batch=1`,
      headers: STREAM,
      on: 'compiled',
    })
    expect(JSON.parse(official.body)).toEqual({ 0: { data: null } })
    expect(JSON.parse(compiled.body)).toEqual({ 0: { data: '<undefined undefined>' } })
    expect(uncompiled).toEqual(compiled)
  })
})

// What a client sees over HTTP/2, it sees later.
describe.skipIf(TRANSPORT !== 'inject')('known difference: a responseMeta that fails', () => {
  /** What happened on each server; official, compiled and direct are the first. */
  const events = new Map<Recorder, string[]>()
  const comparison = compare(
    (recorder) => {
      const seen: string[] = []
      events.set(recorder, seen)
      const t = observedTRPC(recorder, {
        errorFormatter({ shape, path }) {
          seen.push(`shape of ${path}`)
          return shape
        },
      })
      const router = t.router({ failing: t.procedure.query(thrown(refuse())) })
      return {
        router,
        options: {
          responseMeta({ info }) {
            if (info!.url!.searchParams.has('throws')) throw refuse('meta')
            return { status: 99 }
          },
          onError: ({ path }) => seen.push(`error of ${path}`),
        },
      }
    },
    {
      after: (app, recorder) =>
        void app.addHook('onResponse', async (_request, reply) => {
          events.get(recorder)!.push(`answer ${reply.statusCode}`)
        }),
    },
  )
  const ask = async (query: string): Promise<string[][]> => {
    for (const seen of events.values()) seen.length = 0
    await comparison.answers({ url: `/trpc/failing?batch=1${query}`, headers: STREAM, on: 'compiled' })
    return [...events.values()].slice(0, 3).map((seen) => [...seen])
  }
  const before = ['error of undefined', 'shape of undefined']
  const ours = [...before, 'answer 500', 'error of failing']

  it('gets a response here before onError is called for its calls', async () => {
    expect(await ask('&throws')).toEqual([[...before, 'error of failing', 'answer 500'], ours, ours])
  })

  it('by an invalid status, creates the error shapes of its calls there', async () => {
    const [official, ...observedOurs] = await ask('')
    expect(official!.toSorted()).toEqual([...ours, 'shape of failing'].toSorted())
    expect(observedOurs).toEqual([ours, ours])
  })
})
