// Values that JSON does not know, through superjson, against tRPC's own adapter and against ours.

import {
  createTRPCClient,
  createWSClient,
  httpBatchLink,
  httpBatchStreamLink,
  httpLink,
  httpSubscriptionLink,
  splitLink,
  TRPCClientError,
  wsLink,
} from '@trpc/client'
import { initTRPC, tracked, TRPCError } from '@trpc/server'
import { EventSource } from 'eventsource'
import superjson from 'superjson'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { WebSocket } from 'ws'
import { z } from 'zod'
import { type BothServers, type Server, serveBoth } from '../../helpers/both-servers.ts'

const NOON = new Date('2030-01-01T12:00:00Z')
const VALUES = {
  date: NOON,
  map: new Map([['one', new Set([1n, 2n])]]),
  nothing: undefined,
  pattern: /a+b/gi,
  text: 'Zoë & co.',
}

const t = initTRPC.create({
  isDev: false,
  transformer: superjson,
  errorFormatter: ({ shape, input }) => ({ ...shape, data: { ...shape.data, input, at: NOON } }),
})

const router = t.router({
  /** Answers with what it got, and what it was. */
  echo: t.procedure.input(z.unknown()).query(({ input }) => ({ input, isDate: input instanceof Date })),
  save: t.procedure.input(z.object({ at: z.date() })).mutation(({ input }) => ({ year: input.at.getUTCFullYear() })),
  values: t.procedure.query(() => VALUES),
  nothing: t.procedure.query(() => undefined),
  refused: t.procedure.input(z.date()).query(() => {
    throw new TRPCError({ code: 'FORBIDDEN', message: 'Not at noon' })
  }),
  dates: t.procedure.query(async function* () {
    yield NOON
    yield new Date(0)
  }),
  events: t.procedure.subscription(async function* () {
    yield tracked('1', NOON)
    yield tracked('2', new Date(0))
  }),
  failing: t.procedure.subscription(async function* () {
    yield tracked('1', NOON)
    throw new TRPCError({ code: 'CONFLICT', message: 'No more' })
  }),
})

type RichRouter = typeof router
type Client = ReturnType<typeof createTRPCClient<RichRouter>>

let both: BothServers

beforeAll(async () => {
  both = await serveBoth<RichRouter>(() => ({ useWSS: true, trpcOptions: { router, allowMethodOverride: true } }))
})

afterAll(() => both.close())

const transformer = superjson

/** A client for a scenario, and the end of its connections. */
type Connect = (server: Server) => { client: Client; close: () => Promise<void> }

const overHttp =
  (
    makeLink: (options: { url: string; transformer: typeof superjson }) => ReturnType<typeof httpLink<RichRouter>>,
  ): Connect =>
  ({ url }) => ({
    client: createTRPCClient<RichRouter>({
      links: [
        splitLink({
          condition: ({ type }) => type === 'subscription',
          true: httpSubscriptionLink({ url, transformer, EventSource }),
          false: makeLink({ url, transformer }),
        }),
      ],
    }),
    close: () => Promise.resolve(),
  })

const overWebSocket: Connect = ({ webSocketUrl }) => {
  const client = createWSClient({
    url: webSocketUrl,
    WebSocket: WebSocket as unknown as typeof globalThis.WebSocket,
  })
  return {
    client: createTRPCClient<RichRouter>({ links: [wsLink({ client, transformer })] }),
    close: () => client.close(),
  }
}

const POST = { methodOverride: 'POST' } as const
const LINKS: [string, Connect][] = [
  ['httpLink', overHttp((options) => httpLink(options))],
  ['httpLink, always POST', overHttp((options) => httpLink({ ...options, ...POST }))],
  ['httpBatchLink', overHttp((options) => httpBatchLink(options))],
  ['httpBatchLink, always POST', overHttp((options) => httpBatchLink({ ...options, ...POST }))],
  ['httpBatchStreamLink', overHttp((options) => httpBatchStreamLink(options))],
  ['httpBatchStreamLink, always POST', overHttp((options) => httpBatchStreamLink({ ...options, ...POST }))],
  ['wsLink', overWebSocket],
]

async function play<T>(connect: Connect, scenario: (client: Client) => Promise<T>): Promise<T> {
  return both.onBoth(async (server) => {
    const { client, close } = connect(server)
    const result = await scenario(client)
    await close()
    return result
  })
}

const shapeOf = (call: Promise<unknown>): Promise<unknown> =>
  call.catch((error: unknown) => (error instanceof TRPCClientError ? (error.shape as unknown) : error))

describe.each(LINKS)('%s', (_name, connect) => {
  it('transfers rich values in both directions', async () => {
    const results = await play(connect, async (client) => ({
      echo: await Promise.all([client.echo.query(NOON), client.echo.query(undefined), client.echo.query(VALUES)]),
      values: await client.values.query(),
      nothing: await client.nothing.query(),
      save: await client.save.mutate({ at: NOON }),
    }))
    expect(results).toEqual({
      echo: [
        { input: NOON, isDate: true },
        { input: undefined, isDate: false },
        { input: VALUES, isDate: false },
      ],
      values: VALUES,
      nothing: undefined,
      save: { year: 2030 },
    })
  })

  it('transfers rich values in errors', async () => {
    const results = await play(connect, async (client) => ({
      refused: await shapeOf(client.refused.query(NOON)),
      wrong: await shapeOf(client.save.mutate({ at: 'noon' as unknown as Date })),
    }))
    expect(results).toMatchObject({
      refused: { message: 'Not at noon', data: { code: 'FORBIDDEN', input: NOON, at: NOON } },
      wrong: { data: { code: 'BAD_REQUEST', input: { at: 'noon' }, at: NOON } },
    })
  })
})

it.each(LINKS.filter(([name]) => name.startsWith('httpBatchStreamLink')))(
  '%s carries rich values in iterables',
  async (_name, connect) => {
    const dates = await play(connect, async (client) => {
      const got: Date[] = []
      for await (const date of await client.dates.query()) got.push(date)
      return got
    })
    expect(dates).toEqual([NOON, new Date(0)])
  },
)

it.each([
  ['httpSubscriptionLink', LINKS[0]![1]],
  ['wsLink', overWebSocket],
])('%s carries rich values in subscriptions', async (_name, connect) => {
  const results = await play(connect, async (client) => {
    const told: unknown[] = []
    const ended = (procedure: Client['events'] | Client['failing']): Promise<void> =>
      new Promise((resolve) => {
        procedure.subscribe(undefined, {
          onData: (data) => told.push(data),
          onComplete: resolve,
          onError(error) {
            told.push(error.shape)
            resolve()
          },
        })
      })
    await ended(client.events)
    await ended(client.failing)
    return told
  })
  expect(results).toMatchObject([
    { id: '1', data: NOON },
    { id: '2', data: new Date(0) },
    { id: '1', data: NOON },
    { message: 'No more', data: { code: 'CONFLICT', at: NOON } },
  ])
})
