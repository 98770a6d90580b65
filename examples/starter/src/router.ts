import { initTRPC } from '@trpc/server'
import { z } from 'zod'

const t = initTRPC.create()

export const router = t.router({
  greet: t.procedure.input(z.string().min(1)).query(({ input }) => ({ text: `Hello ${input}` })),
})

/** For the client: `createTRPCClient<Router>()`. @public */
export type Router = typeof router
