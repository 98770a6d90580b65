import { initTRPC } from '@trpc/server'

const t = initTRPC.create()

export const adminRouter = t.router({
  health: t.procedure.query(() => ({ healthy: true })),
})
