// A server that tells its parent what of its requests is alive after a garbage collection. Run with --expose-gc.

import { setTimeout as sleep } from 'node:timers/promises'
import { writeHeapSnapshot } from 'node:v8'
import websocket from '@fastify/websocket'
import { initTRPC, tracked } from '@trpc/server'
import Fastify from 'fastify'
import { trpcPlugin } from '../../src/index.ts'

const seen: { readonly what: string; readonly ref: WeakRef<object> }[] = []
const see = <T extends object>(what: string, value: T): T => {
  seen.push({ what, ref: new WeakRef(value) })
  return value
}

const t = initTRPC.context<object>().create({ isDev: false })
const noted = t.procedure.input((value) => see('input', value as object))
const router = t.router({
  aQueryWithALongName: noted.query(({ input }) => see('result', { input })),
  write: noted.mutation(({ input }) => see('result', { size: JSON.stringify(input).length })),
  later: noted.query(async ({ input }) => {
    await sleep(1)
    return see('result', { input })
  }),
  stream: noted.query(async function* ({ input }) {
    yield see('result', { input })
    await sleep(1)
    yield see('result', { input })
  }),
  fails: noted.query(({ input }) => {
    throw see('error', new Error(JSON.stringify(input)))
  }),
  events: noted.subscription(async function* ({ input, signal }) {
    for (let count = 0; !signal!.aborted && count < 1000; count++) {
      yield tracked(`id${count}`, see('result', { input }))
      await sleep(1)
    }
  }),
})

const app = Fastify({ forceCloseConnections: true, bodyLimit: 1e8 })
app.addHook('onRequest', async (request, reply) => {
  see('request', request)
  see('raw request', request.raw)
  see('reply', reply)
  see('raw reply', reply.raw)
})
await app.register(websocket)
await app.register(trpcPlugin<typeof router>, {
  prefix: '/trpc',
  useWSS: true,
  trpcOptions: {
    router,
    createContext: ({ req }) => see('context', { token: req.headers.authorization }),
    responseMeta: ({ ctx }) => ({ headers: see('headers', { 'x-seen': String(ctx !== undefined) }) }),
    onError: ({ error }) => void see('error', error),
  },
})
await app.listen({ port: 0, host: '127.0.0.1' })

export interface Retained {
  /** How many objects there were, and what is alive of them. */
  readonly count: number
  readonly alive: readonly string[]
}

process.on('message', async (file: string) => {
  // What ended a moment ago is still in the hands of timers and of ticks.
  for (let times = 0; times < 20 && alive().length > 0; times++) {
    await sleep(20)
    globalThis.gc!()
  }
  if (file !== '') writeHeapSnapshot(file)
  const retained: Retained = { count: seen.length, alive: alive() }
  seen.length = 0
  process.send!(retained)
})

function alive(): string[] {
  return seen.filter(({ ref }) => ref.deref() !== undefined).map(({ what }) => what)
}
process.send!(app.server.address())
