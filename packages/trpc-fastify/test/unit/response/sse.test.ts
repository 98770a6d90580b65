import { once } from 'node:events'
import { get, type IncomingMessage } from 'node:http'
import { setTimeout as sleep } from 'node:timers/promises'
import { initTRPC, tracked, TRPCError } from '@trpc/server'
import { observable } from '@trpc/server/observable'
import superjson from 'superjson'
import { afterEach, describe, expect, it } from 'vitest'
import { type BothServers, type Server, serveBoth } from '../../helpers/both-servers.ts'
import type { Journal } from '../../helpers/journal.ts'
import { HAS } from '../../helpers/peer-versions.ts'

type Settings = Parameters<typeof initTRPC.create>[0]

/** Subscriptions of every kind; what happens to them is written into the journal. */
function routerWith(settings: Settings, journal: Journal) {
  const t = initTRPC.create({ isDev: false, ...settings })
  const anything = (value: unknown): unknown => value
  return t.router({
    count: t.procedure.input(anything).subscription(async function* ({ input, signal }) {
      signal!.addEventListener('abort', () => journal.add('aborted'))
      journal.add(`called with ${JSON.stringify(input ?? null)}`)
      try {
        for (let number = 1; number < 4; number++) {
          yield number === 2 ? tracked(`id${number}`, { when: new Date(0) }) : number
          await sleep(15)
        }
      } finally {
        journal.add('ended')
      }
    }),
    failsLater: t.procedure.subscription(async function* () {
      yield 1
      throw new TRPCError({ code: 'CONFLICT', message: 'later' })
    }),
    failsAtOnce: t.procedure.subscription((): AsyncGenerator<number> => {
      throw new Error('at once')
    }),
    refusesInput: t.procedure
      .input((): unknown => {
        throw new Error('no such input')
      })
      .subscription(async function* () {
        yield 1
      }),
    gives5: t.procedure.subscription(() => 5 as unknown as AsyncGenerator<number>),
    bigint: t.procedure.subscription(async function* () {
      yield 1n
    }),
    nothings: t.procedure.subscription(async function* () {
      yield undefined
      yield null
      yield tracked('x', undefined)
      yield 'an event without an id'
    }),
    many: t.procedure.subscription(async function* () {
      for (let number = 1; number <= 2000; number++) {
        yield number % 7 === 0 ? tracked(`id${number}`, { number }) : { number }
        if (number % 500 === 0) await new Promise(setImmediate)
      }
    }),
    aborts: t.procedure.subscription(async function* () {
      yield 1
      throw new DOMException('enough', 'AbortError')
    }),
    observed: t.procedure.subscription(() =>
      observable<number>((observer) => {
        journal.add('called to observe')
        observer.next(1)
        observer.next(2)
        // Where the first event is to be the last, its end must not race the observable's.
        if (!settings?.sse?.emitAndEndImmediately) setTimeout(() => observer.complete(), 5)
        return () => {
          journal.add('ended')
          if (HAS.lateCompletion) observer.complete()
        }
      }),
    ),
    endless: t.procedure.subscription(async function* ({ signal }) {
      try {
        for (let number = 0; ; number++) {
          yield number
          await sleep(5, undefined, { signal: signal! })
        }
      } finally {
        journal.add(`left, ${signal!.aborted ? 'aborted' : 'not aborted'}`)
      }
    }),
  })
}

let both: BothServers
afterEach(() => both.close())

/** The same subscriptions by tRPC's own adapter and by ours. */
const serve = (settings: Settings): Promise<BothServers> =>
  serveBoth<ReturnType<typeof routerWith>>((journal) => ({
    trpcOptions: {
      router: routerWith(settings, journal),
      responseMeta: ({ eagerGeneration, type }) => ({ headers: { 'x-meta': `${eagerGeneration} ${type}` } }),
      onError: ({ error, path, type, input }) =>
        journal.add(`${error.message} at ${path} (${type}) with ${JSON.stringify(input)}`),
    },
  }))

/** All that can be observed of one request. */
async function observe({ url, journal }: Server, path: string, headers: Record<string, string>): Promise<object> {
  const response = await fetch(`${url}/${path}`, { headers })
  const text = await response.text()
  // A generator that is stopped in its sleep ends after the answer did, and so may an observable.
  if (journal.entries.some((entry) => String(entry).startsWith('called'))) await journal.until('ended')
  const { date: _, ...others } = Object.fromEntries(response.headers)
  const told = journal.entries
  journal.clear()
  return { status: response.status, headers: others, text, told }
}

const input = (value: unknown): string => encodeURIComponent(JSON.stringify(value))

const REQUESTS: [path: string, headers?: Record<string, string>][] = [
  ['count'],
  [`count?input=${input({ json: { a: 1 }, a: 1 })}`],
  [`count?input=${input({ json: { a: 1 }, a: 1 })}&lastEventId=id2`],
  ['count?lastEventId=id2'],
  ['count?Last-Event-Id=id2'],
  ['count?lastEventId='],
  ['count?lastEventId=%00'],
  [`count?input=${input({ json: 5 })}`, { 'last-event-id': 'id7' }],
  ['count', { accept: 'text/event-stream', 'last-event-id': '' }],
  [`count?connectionParams=${input({ token: 'x' })}`],
  [`count?connectionParams=${input({ token: 5 })}`],
  ['failsLater'],
  ['failsAtOnce'],
  ['refusesInput'],
  ['refusesInput?input=%7B'],
  ['gives5'],
  ['bigint'],
  ['nothings'],
  ['nothings', { 'last-event-id': 'abc' }],
  ['many'],
  ['aborts'],
  ['observed'],
  ['count,observed?batch=1'],
]

describe.each<[string, Settings, 'compiled' | 'official']>([
  ['no settings', {}, 'compiled'],
  ['a transformer', { transformer: superjson }, 'compiled'],
  ['client options', { sse: { client: { reconnectAfterInactivityMs: 5000 } } }, 'compiled'],
  ['a longest duration', { sse: { maxDurationMs: 5000 } }, 'compiled'],
  ['subscriptions off', { sse: { enabled: false } }, 'official'],
  ['a single event', { sse: { emitAndEndImmediately: true } }, 'official'],
  [
    'pings that come too late',
    { sse: { ping: { enabled: true, intervalMs: 50 }, client: { reconnectAfterInactivityMs: 10 } } },
    'official',
  ],
])('with %s', (_, settings, path) => {
  it('sends the same bytes and reports the same errors as the official adapter', async () => {
    both = await serve(settings)
    const { official, ours } = both
    for (const [request, headers = {}] of REQUESTS) {
      expect({ request, ...(await observe(ours, request, headers)) }).toEqual({
        request,
        ...(await observe(official, request, headers)),
      })
    }
    // The batch and the malformed connection parameters are the official handler's.
    const { compiled, fallback } = ours.app.trpcStats('/trpc')!
    expect(compiled).toBe(path === 'compiled' ? REQUESTS.length - 2 : 0)
    expect(Object.values(fallback).reduce((sum, count) => sum + count, 0)).toBe(REQUESTS.length - compiled)
  })
})

it('sends pings without events', async () => {
  const settings: Settings = { sse: { ping: { enabled: true, intervalMs: 4 } } }
  both = await serve(settings)
  for (const server of [both.official, both.ours]) {
    const { text } = (await observe(server, 'count', {})) as { text: string }
    expect(text).toMatch(/^event: connected\ndata: \{\}\n\n\ndata: 1\n\n\nevent: ping\ndata: \n\n\n/)
    expect(text.replaceAll('event: ping\ndata: \n\n\n', '')).toMatch(/data: 3\n[^]*event: return\ndata: \n\n\n$/)
  }
})

it('ends the subscription when the client disconnects', async () => {
  both = await serve({})
  for (const { url, journal } of [both.official, both.ours]) {
    const request = get(`${url}/endless`).on('error', () => {})
    const [response] = (await once(request, 'response')) as [IncomingMessage]
    response.on('error', () => {})
    await once(response, 'data')
    request.destroy()
    await journal.until('left, aborted')
    expect(journal.entries).toEqual(['left, aborted'])
  }
})
