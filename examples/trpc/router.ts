import { once } from 'node:events'
import { setImmediate as nextTurn, setTimeout as sleep } from 'node:timers/promises'
import { initTRPC, lazy, tracked, TRPCError } from '@trpc/server'
import type { OpenApiMeta } from 'trpc-fastify/openapi'
import { z } from 'zod'
import { article, greeting } from './content.ts'

/** Result of `createContext`. Without it there is no context. */
export interface Context {
  user: string
}

const t = initTRPC.context<Partial<Context>>().meta<OpenApiMeta>().create()

/** A procedure with a REST route, too. */
const at = (method: 'GET' | 'POST', path: `/${string}`) => t.procedure.meta({ openapi: { method, path } })

/** Three middlewares before each procedure. */
const traced = t.procedure
  .use(({ next }) => next({ ctx: { startedAt: performance.now() } }))
  .use(async ({ ctx, next }) => {
    const result = await next()
    if (performance.now() - ctx.startedAt > 1000) console.warn('slow')
    return result
  })
  .use(({ ctx, next }) => next({ ctx: { user: ctx.user ?? 'guest' } }))

const name = z.object({ name: z.string().min(1).max(100) })

export const appRouter = t.router({
  /** Has neither input nor context. */
  hello: t.procedure.query(() => ({ hello: 'world' })),
  greet: at('GET', '/greetings')
    .input(name)
    .query(({ input }) => greeting(input.name)),
  greetChecked: at('GET', '/checked-greetings/{name}')
    .input(name)
    .output(z.object({ text: z.string(), length: z.number() }))
    .query(({ input }) => greeting(input.name)),
  whoAmI: traced.query(({ ctx }) => ({ user: ctx.user })),
  article: at('GET', '/article').query(() => article),
  note: at('POST', '/notes')
    .input(name)
    .mutation(({ input }) => greeting(input.name)),
  later: t.procedure.query(async () => {
    await sleep(1)
    return { hello: 'later' }
  }),
  /** Responds after a visible delay. */
  slow: t.procedure.input(z.object({ milliseconds: z.number().int().min(0).max(10_000) })).query(async ({ input }) => {
    await sleep(input.milliseconds)
    return { hello: 'slow' }
  }),
  refused: t.procedure.query(() => {
    throw new TRPCError({ code: 'FORBIDDEN', message: 'Not for you' })
  }),
  upload: t.procedure.input(z.instanceof(FormData)).mutation(async ({ input }) => {
    const file = input.get('file')
    return file instanceof File ? { name: file.name, size: file.size } : { name: null, size: 0 }
  }),
  /** Counts up. A reconnecting client continues after its last event. */
  count: t.procedure
    .input(z.object({ to: z.number().int().max(10_000), lastEventId: z.string().nullish() }))
    .subscription(async function* ({ input, signal }) {
      for (let number = Number(input.lastEventId ?? 0) + 1; number <= input.to; number++) {
        if (signal?.aborted) return
        yield tracked(String(number), { number })
        await sleep(10)
      }
    }),
  /** Sends some events, each in an event-loop tick of its own. */
  burst: t.procedure.input(z.object({ events: z.number().int().max(10_000) })).subscription(async function* ({
    input,
  }) {
    for (let number = 1; number <= input.events; number++) {
      yield { number }
      await nextTurn()
    }
  }),
  /** Sends some events, and then none until the client disconnects. */
  quiet: t.procedure.input(z.object({ events: z.number().int().max(10_000) })).subscription(async function* ({
    input,
    signal,
  }) {
    for (let number = 1; number <= input.events; number++) yield { number }
    await once(signal!, 'abort')
  }),
  /** A lazy router, which the first call loads. */
  admin: lazy(() => import('./admin-router.ts')),
})

export type AppRouter = typeof appRouter
