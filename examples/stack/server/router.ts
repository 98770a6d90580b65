import { initTRPC, tracked, TRPCError } from '@trpc/server'
import type { FastifyReply, FastifyRequest } from 'fastify'
import { z } from 'zod'
import { checkPassword, lastOrder, ordersAfter, ordersOf, placeOrder } from './services.ts'
import type { User } from './session.ts'

interface Context {
  readonly user: User | null
  readonly reply: FastifyReply
}

export const createContext = ({ req, res }: { req: FastifyRequest; res: FastifyReply }): Context => ({
  user: req.user,
  reply: res,
})

const t = initTRPC.context<Context>().create()

/** Procedures for users who have signed in. */
const signedIn = t.procedure.use(({ ctx, next }) => {
  if (!ctx.user) throw new TRPCError({ code: 'UNAUTHORIZED', message: 'Sign in first.' })
  return next({ ctx: { ...ctx, user: ctx.user } })
})

const credentials = z.object({ name: z.string().max(32), password: z.string().max(128) })
const lastEvent = z.object({ lastEventId: z.coerce.number().int().min(0).optional() }).optional()

export const appRouter = t.router({
  session: {
    user: t.procedure.query(({ ctx }) => ctx.user),
    signIn: t.procedure.input(credentials).mutation(async ({ ctx, input }) => {
      const user = await checkPassword(input.name, input.password)
      if (!user) throw new TRPCError({ code: 'UNAUTHORIZED', message: 'Wrong name or password.' })
      ctx.reply.signIn(user)
      return user
    }),
    signOut: t.procedure.mutation(({ ctx }) => ctx.reply.signOut()),
  },
  orders: {
    list: signedIn.query(({ ctx }) => ordersOf(ctx.user)),
    place: signedIn
      .input(z.object({ product: z.string().min(1).max(64) }))
      .mutation(({ ctx, input }) => placeOrder(ctx.user, input.product)),
    /** Each new order. A client that reconnects to any worker continues after its last event. */
    watch: signedIn.input(lastEvent).subscription(async function* ({ ctx, input, signal }) {
      let last = input?.lastEventId
      if (last === undefined) {
        last = await lastOrder(ctx.user)
        // An event without an order, by which the client knows where to continue.
        yield tracked(String(last), null)
      }
      while (!signal!.aborted) {
        for (const order of await ordersAfter(ctx.user, last, signal!)) {
          last = order.id
          yield tracked(String(last), order)
        }
      }
    }),
  },
})

export type AppRouter = typeof appRouter
