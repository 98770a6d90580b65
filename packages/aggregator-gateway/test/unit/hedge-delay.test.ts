import { expect, it } from 'vitest'
import { HedgeDelay } from '../../src/hedge.ts'

/** What is learned from these: twice the 95th percentile of the last 128. */
function expected(durations: readonly number[]): number {
  const sorted = durations.slice(-128).toSorted((one, other) => one - other)
  return Math.max(5, Math.ceil(2 * sorted[Math.floor(sorted.length * 0.95)]!))
}

it.each([
  ['that differ', (index: number): number => (index * 7919) % 101],
  ['of a few kinds', (index: number): number => 3 + ((index * index) % 5)],
  ['that are all the same', (): number => 12.25],
  ['that become longer', (index: number): number => index / 3],
  ['that become shorter', (index: number): number => 400 - index],
  ['too short to be late', (): number => 0.5],
])('a call is late after twice what 95 of 100 answers took, of answers %s', (_, durationOf) => {
  const delay = new HedgeDelay(true)
  const durations: number[] = []
  for (let index = 0; index < 384; index++) {
    durations.push(durationOf(index))
    delay.learn(durations.at(-1)!)
    if (durations.length < 32) expect(delay.get()).toBeUndefined()
    if (durations.length % 32 === 0) expect(delay.get()).toBe(expected(durations))
  }
})

it('a fixed time is learned from nothing', () => {
  const delay = new HedgeDelay(20)
  for (let count = 0; count < 64; count++) delay.learn(100)
  expect(delay.get()).toBe(20)
})
