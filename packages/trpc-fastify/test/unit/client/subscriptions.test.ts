// tRPC's own client, with every link for subscriptions, against tRPC's own adapter and against ours. SUBSCRIPTION_RUNS=200
// plays each case 200 times, while other processes take all cores.

import { spawn } from 'node:child_process'
import { availableParallelism } from 'node:os'
import { createTRPCClient, httpSubscriptionLink } from '@trpc/client'
import { EventSource, type FetchLike } from 'eventsource'
import { afterAll, beforeAll, describe, expect, it, onTestFinished } from 'vitest'
import { type BothServers, type Server, serveBoth } from '../../helpers/both-servers.ts'
import { type Connection, errorsTold, failure, overWebSocket } from '../../helpers/connections.ts'
import { Journal } from '../../helpers/journal.ts'
import { type AppRouter, makeRouter, optionsFor, type ServerSentEvents } from '../../helpers/router.ts'

let both: BothServers

/** Both servers with options for server-sent events, or without. */
const serve = (sse?: ServerSentEvents): Promise<BothServers> => {
  const router = makeRouter(sse)
  return serveBoth<AppRouter>((journal) => ({ useWSS: true, trpcOptions: optionsFor(router, journal) }))
}

const RUNS = Number(process.env['SUBSCRIPTION_RUNS'] ?? 1)
const repeated = { repeats: RUNS - 1, timeout: RUNS * 30_000 }
/** Processes that compete for the cores. */
const BUSY_PROCESSES = RUNS > 1 ? 2 * availableParallelism() : 0

beforeAll(async () => {
  both = await serve()
  const busy = Array.from({ length: BUSY_PROCESSES }, () => spawn(process.execPath, ['-e', 'for (;;);']))
  return () => busy.forEach((child) => child.kill('SIGKILL'))
})

afterAll(() => both.close())

/** What a subscriber is told, in order. The server's journal gets a receipt for each number. */
class Subscriber {
  readonly journal = new Journal()
  readonly #server: Server
  eventSource: EventTarget | undefined

  constructor(server: Server) {
    this.#server = server
  }

  readonly onStarted = ({ context }: { context?: { eventSource?: unknown } | undefined }): void => {
    this.eventSource = context?.eventSource as EventTarget | undefined
    this.journal.add('started')
  }
  readonly onComplete = (): void => this.journal.add('complete')
  readonly onStopped = (): void => this.journal.add('stopped')
  readonly onData = (data: unknown): void => {
    this.journal.add({ data })
    const { id } = data as { id?: string }
    this.#server.journal.add(`client has ${id}`)
  }
  readonly onError = (error: { message: string; shape?: unknown }): void =>
    this.journal.add({ failed: error.message, shape: error.shape })
  readonly onConnectionStateChange = ({ state, error }: { state: string; error?: { message: string } | null }): void =>
    this.journal.add(error ? `${state}: ${error.message}` : state)

  get events(): unknown[] {
    return [...this.journal.entries]
  }

  /** The data, as it came. */
  get data(): unknown[] {
    return this.events.flatMap((event) => (isData(event) ? [event.data] : []))
  }

  /** Resolves when the subscription is complete or has failed. */
  async untilEnd(): Promise<unknown[]> {
    await this.journal.untilSome((event) => event === 'complete' || isFailure(event))
    return this.events
  }
}

const isData = (event: unknown): event is { data: unknown } => typeof event === 'object' && 'data' in event!
const isFailure = (event: unknown): boolean => typeof event === 'object' && 'failed' in event!

/** Lets an EventSource come back at once, as a `retry` field of the server would. */
const impatient: FetchLike = async (url, init) => {
  const response = await fetch(url, init)
  const { status, headers, redirected } = response
  const retry = new TextEncoder().encode('retry: 1\n\n')
  const body = response.body?.pipeThrough(new TransformStream({ start: (controller) => controller.enqueue(retry) }))
  return { status, headers, redirected, url: response.url, body: body ?? null }
}

const overEventSource = ({ url }: Server, connectionParams?: Record<string, string>): Connection => ({
  client: createTRPCClient<AppRouter>({
    links: [
      httpSubscriptionLink({
        url,
        EventSource,
        eventSourceOptions: { fetch: impatient },
        connectionParams: connectionParams ?? null,
      }),
    ],
  }),
  exchanges: [],
  close: () => Promise.resolve(),
})

type Connect = (server: Server, connectionParams?: Record<string, string>) => Connection
type Subscribe = (client: Connection['client'], subscriber: Subscriber) => { unsubscribe(): void }

/** Subscribes; the connection ends with the test. */
function subscriberOf(
  connect: Connect,
  server: Server,
  subscribe: Subscribe,
  params?: Record<string, string>,
): Subscriber & { unsubscribe(): void } {
  const connection = connect(server, params)
  const subscriber = new Subscriber(server)
  const subscription = subscribe(connection.client, subscriber)
  const unsubscribe = (): void => subscription.unsubscribe()
  onTestFinished(async () => {
    unsubscribe()
    await connection.close()
  })
  return Object.assign(subscriber, { unsubscribe })
}

describe.each<[string, Connect]>([
  ['httpSubscriptionLink', overEventSource],
  ['wsLink', overWebSocket],
])('%s', repeated, (name, connect) => {
  const isSse = name === 'httpSubscriptionLink'
  /** How each link tells that a subscription has begun, and that it has ended. */
  const START = isSse ? ['connecting', 'started', 'pending'] : ['connecting', 'pending', 'started']
  const END = isSse ? ['stopped', 'idle', 'complete'] : ['stopped', 'complete']

  /** What a subscriber is told on both servers until the subscription ends, and what `onError` is told. */
  const untilEnd = (
    subscribe: Subscribe,
    params?: Record<string, string>,
  ): Promise<{ events: unknown[]; told: unknown[] }> =>
    both.onBoth(async (server) => ({
      events: await subscriberOf(connect, server, subscribe, params).untilEnd(),
      told: errorsTold(server),
    }))

  it('gets the values of a subscription, and its end', async () => {
    const { events, told } = await untilEnd((client, subscriber) => client.ticks.subscribe(undefined, subscriber))
    expect(events).toEqual([...START, { data: 'tick' }, { data: { tock: [1, 2] } }, ...END])
    expect(told).toEqual([])
  })

  it('gets each tracked event with its id as soon as it is ready', async () => {
    const { events } = await untilEnd((client, subscriber) => client.count.subscribe({ to: 3 }, subscriber))
    const data = [1, 2, 3].map((number) => ({ data: { id: String(number), data: { number } } }))
    expect(events).toEqual([...START, ...data, ...END])
  })

  it("starts after the event of the client's last event id", async () => {
    const input = { to: 3, lastEventId: '2' }
    const { events } = await untilEnd((client, subscriber) => client.count.subscribe(input, subscriber))
    expect(events).toEqual([...START, { data: { id: '3', data: { number: 3 } } }, ...END])
  })

  it('gets the values of an observable, and tears it down at its end', async () => {
    const results = await both.onBoth(async (server) => {
      const input = { fails: false }
      const subscriber = subscriberOf(connect, server, (client, told) => client.observed.subscribe(input, told))
      const events = await subscriber.untilEnd()
      await server.journal.until('torn down')
      return { events, journal: server.journal.entries.filter((entry) => entry === 'torn down') }
    })
    expect(results).toEqual({ events: [...START, { data: 1 }, { data: 2 }, ...END], journal: ['torn down'] })
  })

  it('fails with the error of an observable', async () => {
    const input = { fails: true }
    const { events, told } = await untilEnd((client, subscriber) => client.observed.subscribe(input, subscriber))
    expect(events).toEqual([
      ...START,
      { data: 1 },
      { data: 2 },
      failure('No 3', -32009, { code: 'CONFLICT', httpStatus: 409, path: 'observed', input }),
    ])
    expect(told).toEqual(['onError: observed (subscription) CONFLICT'])
  })

  it('fails with an error in mid-stream', async () => {
    const input = { to: 3, failAt: 2 }
    const { events, told } = await untilEnd((client, subscriber) => client.count.subscribe(input, subscriber))
    expect(events).toEqual([
      ...START,
      { data: { id: '1', data: { number: 1 } } },
      failure('No 2', -32009, { code: 'CONFLICT', httpStatus: 409, path: 'count', input }),
    ])
    expect(told).toEqual(['onError: count (subscription) CONFLICT'])
  })

  it('fails for an invalid input', async () => {
    const { events, told } = await untilEnd((client, subscriber) =>
      client.count.subscribe({ to: '3' as unknown as number }, subscriber),
    )
    expect(events.at(-1)).toMatchObject({ shape: { data: { code: 'BAD_REQUEST', path: 'count' } } })
    // Of what fails before the stream, tRPC tells twice: as a call, and as a stream.
    expect(told).toEqual(Array.from({ length: isSse ? 2 : 1 }, () => 'onError: count (subscription) BAD_REQUEST'))
  })

  it('fails for an unknown subscription', async () => {
    const { events } = await untilEnd((client, subscriber) =>
      (client as unknown as { lost: Connection['client']['ticks'] }).lost.subscribe(undefined, subscriber),
    )
    expect(events.at(-1)).toHaveProperty('failed')
  })

  it('fails if createContext fails', async () => {
    const { told } = await both.onBoth(async (server) => {
      const connection = connect(server, { user: 'nobody' })
      const subscriber = new Subscriber(server)
      const subscription = connection.client.ticks.subscribe(undefined, subscriber)
      // Over WebSockets, the client tries again for ever.
      const [first] = await server.journal.untilSome((entry) => String(entry).startsWith('onError'))
      subscription.unsubscribe()
      await connection.close()
      return { told: first }
    })
    expect(told).toMatch(/^onError: .* UNAUTHORIZED$/)
  })

  it('sends connectionParams to createContext', async () => {
    const { events } = await untilEnd((client, subscriber) => client.params.subscribe(undefined, subscriber), {
      user: 'Ada',
    })
    expect(events).toEqual([...START, { data: { user: 'Ada' } }, ...END])
  })

  it.each<[string, Subscribe, unknown, string]>([
    ['a generator', (client, told) => client.endless.subscribe(undefined, told), 'first', 'ends, aborted: true'],
    ['an observable', (client, told) => client.observedForever.subscribe(undefined, told), 1, 'torn down'],
  ])('ends %s when the client unsubscribes', async (_what, subscribe, first, end) => {
    const results = await both.onBoth(async (server) => {
      const subscriber = subscriberOf(connect, server, subscribe)
      await subscriber.journal.untilSome(isData)
      subscriber.unsubscribe()
      await server.journal.until(end)
      return { events: subscriber.events, ends: server.journal.entries.filter((entry) => entry === end).length }
    })
    expect(results).toMatchObject({ ends: 1 })
    expect(results.events.slice(0, 4)).toEqual([...START, { data: first }])
  })

  it('continues after the last event if the connection breaks', async () => {
    const results = await both.onBoth(async (server) => {
      const subscriber = subscriberOf(connect, server, (client, told) => client.interrupted.subscribe({ to: 3 }, told))
      await subscriber.untilEnd()
      // The first two were aborted; nobody says when, only that they are.
      await server.journal.untilSome((entry) => entry === 'aborted', 2)
      return {
        data: subscriber.data,
        journal: server.journal.entries.filter((entry) => String(entry).startsWith('goes')),
      }
    })
    expect(results).toEqual({
      data: [1, 2, 3].map((number) => ({ id: String(number), data: number })),
      journal: ['goes on after nothing', 'goes on after 1', 'goes on after 2'],
    })
  })
})

describe('httpSubscriptionLink', repeated, () => {
  it('takes the fast path', async () => {
    const before = both.ours.app.trpcStats('/trpc')!.compiled
    await subscriberOf(overEventSource, both.ours, (client, told) => client.ticks.subscribe(undefined, told)).untilEnd()
    expect(both.ours.app.trpcStats('/trpc')).toMatchObject({ compiled: before + 1 })
  })

  it('reconnects after a temporary error, and continues after the last event', async () => {
    const results = await both.onBoth(async (server) => {
      const input = { to: 2, failAt: 2 }
      const subscriber = subscriberOf(overEventSource, server, (client, told) => client.retried.subscribe(input, told))
      return { events: await subscriber.untilEnd(), told: errorsTold(server) }
    })
    // Without what is told of each connection.
    const events = results.events.filter((event) => !['connecting', 'started', 'pending'].includes(event as string))
    expect(events).toEqual([
      { data: { id: '1', data: 1 } },
      'connecting: Come back',
      expect.stringMatching(/^connecting: /),
      { data: { id: '2', data: 2 } },
      'stopped',
      'idle',
      'complete',
    ])
    expect(results.told).toEqual(['onError: retried (subscription) BAD_GATEWAY'])
  })

  it('fails for a subscription that returns no iterable', async () => {
    const results = await both.onBoth(async (server) => {
      const subscriber = subscriberOf(overEventSource, server, (client, told) =>
        (client as unknown as { notIterable: typeof client.ticks }).notIterable.subscribe(undefined, told),
      )
      const [state] = await subscriber.journal.untilSome((event) => String(event).startsWith('connecting: '))
      subscriber.unsubscribe()
      return { state, told: errorsTold(server)[0] } // it may have come back meanwhile
    })
    expect(results).toEqual({
      state: 'connecting: Subscription notIterable did not return an observable or a AsyncGenerator',
      told: 'onError: notIterable (subscription) INTERNAL_SERVER_ERROR',
    })
  })

  it('gets pings without events', async () => {
    const servers = await serve({ ping: { enabled: true, intervalMs: 5 } })
    onTestFinished(() => servers.close())
    const pings = await servers.onBoth(async (server) => {
      const subscriber = subscriberOf(overEventSource, server, (client, told) =>
        client.endless.subscribe(undefined, told),
      )
      await subscriber.journal.until('started')
      subscriber.eventSource!.addEventListener('ping', () => subscriber.journal.add('ping'))
      const told = await subscriber.journal.untilSome((event) => event === 'ping', 2)
      subscriber.unsubscribe()
      await server.journal.until('ends, aborted: true')
      return told.slice(0, 2)
    })
    expect(pings).toEqual(['ping', 'ping'])
  })

  it('ends after maxDurationMs, reconnects, and continues after the last event', async () => {
    const servers = await serve({ maxDurationMs: 100 })
    onTestFinished(() => servers.close())
    const results = await servers.onBoth(async (server) => {
      const subscriber = subscriberOf(overEventSource, server, (client, told) =>
        client.retried.subscribe({ to: 2 }, told),
      )
      await subscriber.untilEnd()
      await server.journal.until('aborted')
      return { data: subscriber.data, last: server.journal.entries.includes('goes on after 1') }
    })
    expect(results).toEqual({
      data: [
        { id: '1', data: 1 },
        { id: '2', data: 2 },
      ],
      last: true,
    })
  })

  it('reconnects after reconnectAfterInactivityMs without events', async () => {
    const servers = await serve({ client: { reconnectAfterInactivityMs: 100 } })
    onTestFinished(() => servers.close())
    const results = await servers.onBoth(async (server) => {
      const subscriber = subscriberOf(overEventSource, server, (client, told) =>
        client.retried.subscribe({ to: 2 }, told),
      )
      const events = await subscriber.untilEnd()
      await server.journal.until('aborted')
      return {
        data: subscriber.data,
        timeout: events.includes('connecting: Timeout of 100ms reached while waiting for a response'),
      }
    })
    expect(results).toEqual({
      data: [
        { id: '1', data: 1 },
        { id: '2', data: 2 },
      ],
      timeout: true,
    })
  })
})
