// A procedure that yields faster than its client reads must wait for it, or the server's memory fills up.

import { once } from 'node:events'
import { connect } from 'node:net'
import { initTRPC } from '@trpc/server'
import { afterAll, beforeAll, expect, it } from 'vitest'
import { type BothServers, serveBoth } from './both-servers.ts'
import type { Journal } from './journal.ts'

const t = initTRPC.context<{ journal: Journal }>().create()
const CHUNK = 'x'.repeat(64 * 1024)

/** Yields for ever, unless it is made to wait. */
async function* flood({ ctx: { journal } }: { ctx: { journal: Journal } }): AsyncGenerator<string> {
  try {
    for (;;) {
      journal.add('yields')
      yield CHUNK
    }
  } finally {
    journal.add('ends')
  }
}

const router = t.router({ query: t.procedure.query(flood), subscription: t.procedure.subscription(flood) })

let both: BothServers

beforeAll(async () => {
  both = await serveBoth<typeof router>((journal) => ({ trpcOptions: { router, createContext: () => ({ journal }) } }))
})

afterAll(() => both.close())

it.each([
  ['a streamed query', 'query?batch=1', 'trpc-accept: application/jsonl'],
  ['a subscription', 'subscription', 'accept: text/event-stream'],
])('%s waits for a client that does not read, and ends when it goes away', async (_name, path, header) => {
  const results = await both.onBoth(async ({ app, port, journal }) => {
    const connected = once(app.server, 'connection')
    const socket = connect(port, '127.0.0.1')
    const [{ writableHighWaterMark }] = (await connected) as [{ writableHighWaterMark: number }]
    socket.write(`GET /trpc/${path} HTTP/1.1\r\nhost: localhost\r\n${header}\r\n\r\n`)
    await journal.untilSome((entry) => entry === 'yields', 5)
    const yielded = (): number => journal.entries.filter((entry) => entry === 'yields').length
    // It goes on until the buffers of both ends are full: it stands still for many turns then.
    for (let before = -1, still = 0; still < 200; still = yielded() === before ? still + 1 : 0) {
      before = yielded()
      await new Promise(setImmediate)
    }
    const atRest = yielded()
    socket.destroy()
    await journal.until('ends')
    // The kernel may hold some megabytes of a connection, but nobody holds 64.
    return { isBounded: atRest < 1000, isRunning: atRest * CHUNK.length > writableHighWaterMark }
  })
  expect(results).toEqual({ isBounded: true, isRunning: true })
})
