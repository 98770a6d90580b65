// The open loop on a clock of its own, against servers whose latency is known.

import { expect, it } from 'vitest'
import { decodeFromCompressedBase64 } from 'hdr-histogram-js'
import type { Connection, OnEnd } from '../../../src/connection/connection.ts'
import { ConnectionPool } from '../../../src/connection/connection-pool.ts'
import { Requests } from '../../../src/load-test/requests.ts'
import { runRate } from '../../../src/load-test/run-rate.ts'
import { Tally, type TallyRecord } from '../../../src/load-test/tally.ts'
import { FakeClock } from '../../helpers/fake-clock.ts'

/** Time at which a server responds to a request that comes now. */
type Server = (now: number) => number

interface Load {
  readonly rate: number
  readonly duration: number
  readonly connections?: number
  readonly requestTimeout?: number
  /** Called for each request, when it is sent. */
  readonly onSend?: (clock: FakeClock) => void
}

async function apply(server: Server, load: Load): Promise<TallyRecord & { peak: number; at: (p: number) => number }> {
  const { rate, duration, connections = 1000, requestTimeout = 10_000, onSend } = load
  const clock = new FakeClock()
  const requests = new Requests(clock, requestTimeout)
  const tally = new Tally(200)
  const connect = (): Connection => connectionTo(server, clock)
  const pool = new ConnectionPool(connect, { limit: connections, keepAlive: true })
  const send = (onEnd: OnEnd): (() => void) => {
    onSend?.(clock)
    return pool.send(onEnd)
  }
  for (let time = 50; time < duration + 2 * requestTimeout; time += 50) clock.wakeAt(time, () => requests.expire())
  const ended = runRate({ from: rate, to: rate, duration }, tally, { clock, requests, send })
  await clock.run()
  await ended
  const record = tally.read()
  const histogram = decodeFromCompressedBase64(record.histogram)
  return { ...record, peak: pool.readPeak(), at: (p) => histogram.getValueAtPercentile(p) / 1000 }
}

function connectionTo(server: Server, clock: FakeClock): Connection {
  let pending: OnEnd | undefined
  let isOpen = true
  const close = (): void => {
    isOpen = false
    pending = undefined
  }
  return {
    get free() {
      return isOpen && !pending ? 1 : 0
    },
    send(onEnd) {
      pending = onEnd
      clock.wakeAt(server(clock.now()), () => {
        if (pending !== onEnd) return
        pending = undefined
        onEnd(200)
      })
      return close
    },
    close,
  }
}

/** Responds at once, but for the first 200 ms of every 2 s not at all. */
const stalling: Server = (now) => (now % 2000 < 200 ? now - (now % 2000) + 200 : now)

// Of all requests, the share (200 - x) / 2000 waits for longer than x ms. A share of 1 % waits for longer than 180 ms.
it('measures 180 ms as the p99 of a server that stalls 200 ms every 2 s', async () => {
  const { at, responses } = await apply(stalling, { rate: 500, duration: 10_000 })
  expect(responses).toBe(5000)
  expect(at(99)).toBeGreaterThan(180 * 0.99)
  expect(at(99)).toBeLessThan(180 * 1.01)
  expect(at(90)).toBeLessThan(1)
})

// A closed loop with a few connections would send a few requests during a stall, not 100.
it('counts the wait for a free connection: the p99 is the same with a single one', async () => {
  const { at, responses, peak } = await apply(stalling, { rate: 500, duration: 10_000, connections: 1 })
  expect(responses).toBe(5000)
  expect(peak).toBe(1)
  expect(at(99)).toBeGreaterThan(180 * 0.99)
  expect(at(99)).toBeLessThan(180 * 1.01)
})

it('measures 50 ms of a server that takes 50 ms, over as many connections as that needs', async () => {
  const { at, peak } = await apply((now) => now + 50, { rate: 100, duration: 2000 })
  expect(at(50)).toBeCloseTo(50, 1)
  expect(at(100)).toBeCloseTo(50, 1)
  // 100/s for 50 ms, and one that is sent when another one ends.
  expect(peak).toBeGreaterThanOrEqual(5)
  expect(peak).toBeLessThanOrEqual(6)
})

it('sends all requests that are due after a stall of the generator, and counts its delay as latency', async () => {
  let isFirst = true
  const { at, responses, lateness } = await apply((now) => now, {
    rate: 100,
    duration: 1000,
    onSend(clock) {
      if (isFirst) clock.stall(505)
      isFirst = false
    },
  })
  expect(responses).toBe(100)
  // The second request, of 10 ms, was sent at 505 ms.
  expect(at(100)).toBeCloseTo(505, 0)
  expect(lateness).toBeGreaterThan(480)
  // One half of the requests was late, by up to 505 ms.
  expect(at(50)).toBeLessThan(10)
  expect(at(75)).toBeCloseTo(505 / 2, -1)
})

it('counts a request as timed out from its intended time, whether or not it has been sent', async () => {
  const { responses, failures } = await apply(() => Number.MAX_SAFE_INTEGER, {
    rate: 10,
    duration: 1000,
    connections: 2,
    requestTimeout: 300,
  })
  expect(responses).toBe(0)
  expect(failures).toEqual({ errors: 0, timeouts: 10, unexpectedStatus: 0 })
})
