import { expect, it } from 'vitest'
import { arrivalTimes } from '../../../src/load-test/arrivals.ts'

it('spaces the requests of a constant rate evenly', () => {
  expect([...arrivalTimes({ from: 4, to: 4, duration: 1000 })]).toEqual([0, 250, 500, 750])
})

it.each([
  ['a rising rate', 0, 1000],
  ['a falling rate', 1000, 0],
  ['a rate that rises from a base', 100, 300],
])('sends as many requests until each time as %s integrates to', (_, from, to) => {
  const duration = 4000
  const times = [...arrivalTimes({ from, to, duration })]
  expect(times).toHaveLength(((from + to) / 2) * 4)
  for (const [number, time] of times.entries()) {
    const seconds = time / 1000
    expect(from * seconds + ((to - from) / 4 / 2) * seconds ** 2).toBeCloseTo(number, 4)
  }
  expect(times).toEqual(times.toSorted((a, b) => a - b))
  expect(times.at(-1)).toBeLessThan(duration)
})

it('has no request more for a rate that is no exact number', () => {
  expect([...arrivalTimes({ from: 0.1 + 0.2, to: 0.3, duration: 10_000 })]).toHaveLength(3)
})
