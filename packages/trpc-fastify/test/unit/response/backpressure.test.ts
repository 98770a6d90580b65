// A procedure that yields faster than its client reads must wait for it, or the server's memory fills up.

import { once } from 'node:events'
import { connect } from 'node:net'
import { initTRPC } from '@trpc/server'
import { afterAll, beforeAll, expect, it } from 'vitest'
import { type BothServers, serveBoth } from '../../helpers/both-servers.ts'
import type { Journal } from '../../helpers/journal.ts'

const t = initTRPC.context<{ journal: Journal }>().create()
const LARGE = 64 * 1024
const SMALL = 1024
/** The kernel may hold some megabytes of a connection, but nobody holds so many bytes. */
const MOST = 64e6

/** Yields for ever, unless it is made to wait. */
const flood = (size: number) =>
  async function* ({ ctx: { journal } }: { ctx: { journal: Journal } }): AsyncGenerator<string> {
    const chunk = 'x'.repeat(size)
    try {
      for (;;) {
        journal.add('yields')
        yield chunk
      }
    } finally {
      journal.add('ends')
    }
  }

const router = t.router({
  query: t.procedure.query(flood(LARGE)),
  subscription: t.procedure.subscription(flood(LARGE)),
  smallEvents: t.procedure.subscription(flood(SMALL)),
})

let both: BothServers

beforeAll(async () => {
  both = await serveBoth<typeof router>((journal) => ({ trpcOptions: { router, createContext: () => ({ journal }) } }))
})

afterAll(() => both.close())

it.each([
  ['a streamed query', 'query?batch=1', 'trpc-accept: application/jsonl', LARGE],
  ['a subscription', 'subscription', 'accept: text/event-stream', LARGE],
  ['a subscription of small events', 'smallEvents', 'accept: text/event-stream', SMALL],
])('%s waits for a client that does not read, and ends when it disconnects', async (_name, path, header, size) => {
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
    return { isBounded: atRest * size < MOST, isRunning: atRest * size > writableHighWaterMark }
  })
  expect(results).toEqual({ isBounded: true, isRunning: true })
})
