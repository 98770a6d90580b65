import { expect, it } from 'vitest'
import { HedgeDelay } from '../../../src/call/hedge-delay.ts'

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
  const durations = Array.from({ length: 384 }, (_unused, index) => durationOf(index))
  const learned = durations.map((duration) => (delay.record(duration), delay.get()))
  // It is found anew after every 32 answers.
  const found = durations.map((_unused, index) => {
    const known = durations.slice(0, index + 1 - ((index + 1) % 32))
    return known.length === 0 ? undefined : expected(known)
  })
  expect(learned).toEqual(found)
})

it('a fixed delay does not change', () => {
  const delay = new HedgeDelay(20)
  for (let count = 0; count < 64; count++) delay.record(100)
  expect(delay.get()).toBe(20)
})
