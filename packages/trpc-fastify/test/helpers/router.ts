// A router with a procedure for each way that tRPC's links use one.

import { once } from 'node:events'
import { initTRPC, lazy, tracked, TRPCError } from '@trpc/server'
import type { FastifyTRPCPluginOptions } from '@trpc/server/adapters/fastify'
import { octetInputParser } from '@trpc/server/http'
import { observable } from '@trpc/server/observable'
import type { WebSocket } from 'ws'
import { z } from 'zod'
import type { Journal } from './journal.ts'

export interface Context {
  readonly journal: Journal
  readonly user: string | null
  readonly params: unknown
  /** Ends the connection, as a network does. */
  drop(): void
}

const count = z.object({ to: z.number(), failAt: z.number().optional(), lastEventId: z.string().optional() })

/** The sum of an upload, so that it was read to its end. */
const sizeOf = async (stream: ReadableStream<Uint8Array>): Promise<number> => {
  let size = 0
  for await (const chunk of stream) size += chunk.length
  return size
}

export interface ServerSentEvents {
  ping?: { enabled: boolean; intervalMs: number }
  maxDurationMs?: number
  client?: { reconnectAfterInactivityMs: number }
}

// The types are left to inference: that is what clients live on.
// oxlint-disable-next-line typescript/explicit-function-return-type
export const makeRouter = (sse: ServerSentEvents = {}) => {
  const t = initTRPC.context<Context>().create({
    // Stack traces name the frames of each adapter.
    isDev: false,
    sse,
    errorFormatter: ({ shape, error, input, ctx }) => ({
      ...shape,
      data: {
        ...shape.data,
        input,
        user: ctx?.user ?? null,
        issues: error.cause instanceof z.ZodError ? error.cause.issues.map(({ message }) => message) : [],
      },
    }),
  })
  const later = t.router({ loaded: t.procedure.query(() => 'a lazy router') })

  return t.router({
    greet: t.procedure.input(z.object({ name: z.string().min(1) })).query(({ input }) => `Hello ${input.name}`),
    whoAmI: t.procedure.query(({ ctx }) => ({ user: ctx.user, params: ctx.params })),
    nothing: t.procedure.query(() => undefined),
    nested: t.router({ deeper: t.router({ list: t.procedure.query(() => [1, null, { two: 2 }]) }) }),
    lazy: lazy(() => Promise.resolve({ default: later })),
    refused: t.procedure.input(z.number().optional()).query(() => {
      throw new TRPCError({ code: 'FORBIDDEN', message: 'Not for you' })
    }),
    broken: t.procedure.query(() => {
      throw new RangeError('out of everything')
    }),
    add: t.procedure
      .input(z.object({ a: z.number(), b: z.number() }))
      .output(z.number())
      .mutation(({ input: { a, b } }) => a + b),
    reject: t.procedure.mutation(() => Promise.reject(new TRPCError({ code: 'CONFLICT', message: 'Taken' }))),

    /** Answers when the test lets it. */
    when: t.procedure.input(z.string()).query(async ({ input, ctx }) => {
      await ctx.journal.until(input)
      return input
    }),
    /** Each number comes when the client has the one before: nothing may hold them back. */
    numbers: t.procedure.input(count).query(async function* ({ input, ctx }) {
      try {
        for (let number = 1; number <= input.to; number++) {
          if (number === input.failAt) throw new TRPCError({ code: 'CONFLICT', message: `No ${number}` })
          yield { number }
          await ctx.journal.until(`client has ${number}`)
        }
        return 'all'
      } finally {
        ctx.journal.add('numbers end')
      }
    }),
    promises: t.procedure.query(({ ctx }) => ({
      now: 1,
      later: ctx.journal.until('client waits').then(() => ({
        deeper: Promise.resolve(2),
        rejected: Promise.reject(new TRPCError({ code: 'NOT_FOUND', message: 'Not there' })),
      })),
    })),
    harmlessPromise: t.procedure.query(() => ({ later: Promise.resolve(1) })),
    endlessQuery: t.procedure.query(async function* ({ ctx, signal }) {
      try {
        yield 'first'
        await once(signal!, 'abort')
      } finally {
        ctx.journal.add(`ends, aborted: ${signal!.aborted}`)
      }
    }),

    ticks: t.procedure.subscription(async function* () {
      yield 'tick'
      yield { tock: [1, 2] }
    }),
    params: t.procedure.subscription(async function* ({ ctx }) {
      yield ctx.params
    }),
    /** What only a compiler that is asked would refuse. */
    notIterable: t.procedure.subscription(() => 5 as unknown as AsyncIterable<number>),
    count: t.procedure.input(count).subscription(async function* ({ input, ctx }) {
      ctx.journal.add(`counts after ${input.lastEventId ?? 'nothing'}`)
      for (let number = Number(input.lastEventId ?? 0) + 1; number <= input.to; number++) {
        if (number === input.failAt) throw new TRPCError({ code: 'CONFLICT', message: `No ${number}` })
        yield tracked(String(number), { number })
        await ctx.journal.until(`client has ${number}`)
      }
    }),
    /** Tracked numbers, and after each the connection ends. */
    interrupted: t.procedure.input(count).subscription(async function* ({ input, ctx, signal }) {
      ctx.journal.add(`goes on after ${input.lastEventId ?? 'nothing'}`)
      const number = Number(input.lastEventId ?? 0) + 1
      yield tracked(String(number), number)
      if (number === input.to) return
      await ctx.journal.until(`client has ${number}`)
      ctx.drop()
      if (!signal!.aborted) await once(signal!, 'abort')
      ctx.journal.add('aborted')
    }),
    /** A tracked number, then an error after which clients come back, or silence until the end. */
    retried: t.procedure.input(count).subscription(async function* ({ input, ctx, signal }) {
      ctx.journal.add(`goes on after ${input.lastEventId ?? 'nothing'}`)
      const number = Number(input.lastEventId ?? 0) + 1
      yield tracked(String(number), number)
      if (number === input.to) return
      await ctx.journal.until(`client has ${number}`)
      if (input.failAt) throw new TRPCError({ code: 'BAD_GATEWAY', message: 'Come back' })
      if (!signal!.aborted) await once(signal!, 'abort')
      ctx.journal.add('aborted')
    }),
    endless: t.procedure.subscription(async function* ({ ctx, signal }) {
      try {
        yield 'first'
        await once(signal!, 'abort')
      } finally {
        ctx.journal.add(`ends, aborted: ${signal!.aborted}`)
      }
    }),
    observed: t.procedure.input(z.object({ fails: z.boolean() })).subscription(({ input, ctx }) =>
      observable<number, TRPCError>((observer) => {
        observer.next(1)
        observer.next(2)
        if (input.fails) observer.error(new TRPCError({ code: 'CONFLICT', message: 'No 3' }))
        else observer.complete()
        return () => ctx.journal.add('torn down')
      }),
    ),
    observedForever: t.procedure.subscription(({ ctx }) =>
      observable<number>((observer) => {
        observer.next(1)
        return () => ctx.journal.add('torn down')
      }),
    ),

    upload: t.procedure.input(z.instanceof(FormData)).mutation(async ({ input }) => {
      const file = input.get('file')
      if (!(file instanceof File)) return null
      return { note: input.get('note'), name: file.name, type: file.type, text: await file.text() }
    }),
    octets: t.procedure.input(octetInputParser).mutation(({ input }) => sizeOf(input)),
  })
}

export type AppRouter = ReturnType<typeof makeRouter>
type Options = FastifyTRPCPluginOptions<AppRouter>['trpcOptions']

/** The options for a server: what its procedures and hooks see goes into its journal. */
export const optionsFor = (router: AppRouter, journal: Journal): Options => ({
  router,
  createContext({ req, res, info }) {
    if (req.headers['x-user'] === 'nobody' || info.connectionParams?.['user'] === 'nobody') {
      throw new TRPCError({ code: 'UNAUTHORIZED', message: 'Who are you?' })
    }
    return {
      journal,
      user: (req.headers['x-user'] as string | undefined) ?? null,
      params: info.connectionParams,
      // Of a WebSocket, tRPC gives the socket itself.
      drop: () => ('terminate' in res ? (res as unknown as WebSocket).terminate() : res.raw.destroy()),
    }
  },
  onError: ({ error, path, type }) => journal.add(`onError: ${path} (${type}) ${error.code}`),
  allowMethodOverride: true,
  maxBodySize: 10_000,
})
