// Many requests, of which some fail and some are given up, leave nothing behind. SOAK=1000000 makes it long.

import { Agent } from 'undici'
import { expect, it, vi } from 'vitest'
import type { Remains } from '../fixtures/gateway-server.ts'
import { statusOf } from '../helpers/load.ts'
import { remainsOf, startGateway, startUpstream } from '../helpers/processes.ts'

const REQUESTS = Number(process.env['SOAK'] ?? 40_000)
const CLIENTS = 50
/** Of a hundred requests, so many whose client goes away. */
const ABORTED = 5
const PATHS = ['/all/1', '/one/u0', '/chain', '/large', '/all/2', '/one/u1', '/missing', '/all/3', '/failing', '/large']

it('keeps neither memory nor sockets nor timers', { timeout: Math.max(120_000, REQUESTS) }, async () => {
  const upstreams = await Promise.all(Array.from({ length: 3 }, () => startUpstream()))
  const gateway = await startGateway(upstreams)
  const dispatcher = new Agent({ connections: CLIENTS, pipelining: 1 })
  let sent = 0
  const statuses = new Map<number, number>()
  const client = async (until: number): Promise<void> => {
    while (sent < until) {
      const status = await visit(gateway.url, sent++, dispatcher)
      statuses.set(status, (statuses.get(status) ?? 0) + 1)
    }
  }
  /** What is left when all that was asked is over. */
  const after = async (until: number): Promise<Remains> => {
    await Promise.all(Array.from({ length: CLIENTS }, () => client(until)))
    await vi.waitFor(async () => expect((await remainsOf(gateway)).timers).toBeLessThan(10), { timeout: 10_000 })
    return remainsOf(gateway)
  }
  // One that is too late, whatever the circuits make of the others.
  statuses.set(await statusOf(`${gateway.url}/late`, dispatcher), 1)
  // Caches fill and code is compiled first; after that, nothing may grow.
  const early = await after(REQUESTS / 4)
  const late = await after(REQUESTS)
  console.log(`after ${REQUESTS / 4} and ${REQUESTS} requests:`, early, late, Object.fromEntries(statuses))
  await dispatcher.destroy()
  expect(late.heap).toBeLessThan(early.heap * 1.1)
  expect(late.sockets).toBeLessThanOrEqual(early.sockets + CLIENTS)
  expect(late.timers).toBeLessThan(10)
  // The third upstream answers what is missing and failing, so its circuit is open most of the time; 0 is a client that went away.
  expect([...statuses.keys()].toSorted((a, b) => a - b)).toEqual([0, 200, 502, 504])
  expect(statuses.get(200)).toBeGreaterThan(REQUESTS * 0.8)
})

/** One request; which one depends on its number. Gives its status. */
function visit(url: string, number: number, dispatcher: Agent): Promise<number> {
  if (number % 100 >= ABORTED) return statusOf(url + PATHS[number % PATHS.length]!, dispatcher)
  return statusOf(`${url}/slow`, dispatcher, AbortSignal.timeout(number % 8)).catch(() => 0)
}
