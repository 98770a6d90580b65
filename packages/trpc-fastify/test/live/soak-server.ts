// A server that tells its parent what is left after a garbage collection. Run with --expose-gc.

import { setTimeout as sleep } from 'node:timers/promises'
import { initTRPC, tracked } from '@trpc/server'
import Fastify from 'fastify'
import { trpcPlugin } from '../../src/index.ts'

const t = initTRPC.context<{ user: string }>().create()
const anything = (value: unknown): unknown => value
let subscriptions = 0

const router = t.router({
  hello: t.procedure.query(() => ({ hello: 'world' })),
  echo: t.procedure.input(anything).query(({ input }) => input),
  write: t.procedure.input(anything).mutation(({ input }) => input),
  slow: t.procedure.query(({ signal }) =>
    sleep(5, 'slow', { signal: signal! }).catch(() => {
      throw new Error('aborted')
    }),
  ),
  fails: t.procedure.query(() => {
    throw new Error('as always')
  }),
  ticks: t.procedure.subscription(async function* ({ signal }) {
    subscriptions++
    try {
      for (let number = 1; !signal!.aborted; number++) {
        yield tracked(String(number), { number })
        await sleep(5)
      }
    } finally {
      subscriptions--
    }
  }),
})

const app = Fastify({ forceCloseConnections: true, routerOptions: { maxParamLength: 500 } })
await app.register(trpcPlugin<typeof router>, {
  prefix: '/trpc',
  trpcOptions: { router, createContext: ({ info }) => ({ user: info.url!.pathname }) },
})
await app.listen({ port: 0, host: '127.0.0.1' })

export interface Remains {
  /** Bytes. */
  heap: number
  /** Timers, sockets and whatever else keeps the process alive. */
  handles: number
  subscriptions: number
  /** Requests that the fast path answered, and others. */
  fast: number
  official: number
}

process.on('message', () => {
  globalThis.gc!()
  const { compiled, direct, official } = app.trpcRequests.get('/trpc')!
  const remains: Remains = {
    heap: process.memoryUsage().heapUsed,
    handles: process.getActiveResourcesInfo().length,
    subscriptions,
    fast: compiled + direct,
    official: Object.values(official).reduce((sum, count) => sum + count, 0),
  }
  process.send!(remains)
})
process.send!(app.server.address())
