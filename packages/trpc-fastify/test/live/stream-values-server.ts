// A server whose streams yield large objects, and which tells its parent how many of them are alive. Run with --expose-gc.

import { once } from 'node:events'
import { setTimeout as sleep } from 'node:timers/promises'
import { initTRPC, tracked } from '@trpc/server'
import { observable } from '@trpc/server/observable'
import Fastify from 'fastify'
import { trpcPlugin } from '../../src/index.ts'

const [pings] = process.argv.slice(2)
const pingMs = 5
let refs: WeakRef<object>[] = []

function large(): object {
  const value = { text: Math.random().toString(36).repeat(1000) }
  refs.push(new WeakRef(value))
  return value
}

const t = initTRPC.create({
  sse: { ping: { enabled: pings === 'pings', intervalMs: pingMs } },
  ...(pings === 'pings' ? { jsonl: { pingMs } } : {}),
})

const EVENTS = 3

const router = t.router({
  events: t.procedure.subscription(async function* ({ signal }) {
    for (let count = 0; count < EVENTS; count++) yield large()
    if (!signal!.aborted) await once(signal!, 'abort')
  }),
  trackedEvents: t.procedure.subscription(async function* ({ signal }) {
    for (let count = 0; count < EVENTS; count++) yield tracked(String(count), large())
    if (!signal!.aborted) await once(signal!, 'abort')
  }),
  laterEvents: t.procedure.subscription(async function* ({ signal }) {
    for (let count = 0; count < EVENTS; count++) {
      await sleep(5)
      yield large()
    }
    if (!signal!.aborted) await once(signal!, 'abort')
  }),
  observedEvents: t.procedure.subscription(() =>
    observable<object>((observer) => {
      for (let count = 0; count < EVENTS; count++) setTimeout(() => observer.next(large()), count * 5)
      return () => {}
    }),
  ),
  yields: t.procedure.query(async function* ({ signal }) {
    for (let count = 0; count < EVENTS; count++) yield large()
    if (!signal!.aborted) await once(signal!, 'abort')
  }),
  gives: t.procedure.query(() => large()),
  givesLater: t.procedure.query(async () => {
    await sleep(5)
    return large()
  }),
  promises: t.procedure.query(() => ({ one: sleep(5).then(large), other: sleep(10).then(large) })),
  waits: t.procedure.query(({ signal }) => once(signal!, 'abort')),
})

const app = Fastify({ forceCloseConnections: true })
await app.register(trpcPlugin<typeof router>, { prefix: '/trpc', trpcOptions: { router } })
await app.listen({ port: 0, host: '127.0.0.1' })

/** How many values there were, and how many of them are alive. */
export type StreamValues = [count: number, alive: number]

process.on('message', async () => {
  const alive = (): number => refs.filter((ref) => ref.deref() !== undefined).length
  for (let times = 0; times < 20 && (times === 0 || alive() > 0); times++) {
    await sleep(20)
    globalThis.gc!()
  }
  const values: StreamValues = [refs.length, alive()]
  refs = []
  process.send!(values)
})
process.send!(app.server.address())
