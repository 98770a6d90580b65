import type { Socket } from 'node:net'
import { setImmediate as endOfTick } from 'node:timers/promises'
import { afterEach, beforeEach, expect, it, type MockInstance, vi } from 'vitest'
import { BusyTick } from '../../src/busy-tick.ts'

const socket = {} as Socket

// A tick of a busy machine takes longer than several writes may.
let clock: MockInstance<() => number>
beforeEach(() => {
  clock = vi.spyOn(performance, 'now').mockReturnValue(0)
})
afterEach(() => clock.mockRestore())

function countTwice(tick: BusyTick): void {
  tick.count()
  tick.count()
}

it('lets no write of the first tick wait', () => {
  const tick = new BusyTick()
  expect([tick.count(), tick.count(), tick.count()]).toEqual([false, false, false])
})

it('lets writes wait after a tick with several, and not after one with a single write', async () => {
  const tick = new BusyTick()
  countTwice(tick)
  await endOfTick()
  expect(tick.count()).toBe(true)
  await endOfTick()
  expect(tick.count()).toBe(false)
})

it('lets no write wait after a tick with several that took long', async () => {
  const tick = new BusyTick()
  tick.count()
  clock.mockReturnValue(1000)
  tick.count()
  await endOfTick()
  expect(tick.count()).toBe(false)
})

it('neither counts pipelined responses nor lets them wait', async () => {
  const tick = new BusyTick()
  tick.shouldWait({ socket: null })
  tick.shouldWait({ socket: null })
  expect(tick.isQuiet).toBe(true)
  countTwice(tick)
  await endOfTick()
  expect(tick.shouldWait({ socket: null })).toBe(false)
  expect(tick.shouldWait({ socket })).toBe(true)
})

it('is quiet until a write comes, and after a busy tick once another one has ended', async () => {
  const tick = new BusyTick()
  expect(tick.isQuiet).toBe(true)
  countTwice(tick)
  expect(tick.isQuiet).toBe(false)
  await endOfTick()
  expect(tick.isQuiet).toBe(false)
  tick.endLater()
  await endOfTick()
  expect(tick.isQuiet).toBe(true)
})

it('calls its function once at the end of a tick with writes, or when asked', async () => {
  const onEnd = vi.fn<() => void>()
  const tick = new BusyTick(onEnd)
  await endOfTick()
  expect(onEnd).not.toHaveBeenCalled()
  countTwice(tick)
  await endOfTick()
  expect(onEnd).toHaveBeenCalledTimes(1)
  tick.endLater()
  tick.endLater()
  await endOfTick()
  expect(onEnd).toHaveBeenCalledTimes(2)
})
