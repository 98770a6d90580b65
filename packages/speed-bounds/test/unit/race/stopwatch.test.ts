import { setTimeout as sleep } from 'node:timers/promises'
import { expect, it } from 'vitest'
import { Stopwatch } from '../../../src/race/stopwatch.ts'

it('adds up the time of work, also while it goes on', async () => {
  const watch = new Stopwatch()
  expect(watch.time).toBe(0)
  expect(await watch.measure(() => sleep(5, 'done'))).toBe('done')
  const first = watch.time
  expect(first).toBeGreaterThan(0)
  const { promise, resolve } = Promise.withResolvers<void>()
  const work = watch.measure(() => promise)
  await sleep(5)
  expect(watch.time).toBeGreaterThan(first)
  resolve()
  await work
})

it('stops when the work fails', async () => {
  const watch = new Stopwatch()
  await expect(watch.measure(() => Promise.reject(new Error('no generator')))).rejects.toThrow('no generator')
  const { time } = watch
  await sleep(5)
  expect(watch.time).toBe(time)
})
