import { expect, it } from 'vitest'
import { isWarm } from '../../../src/race/is-warm.ts'

const ROUND = 100
/** Microseconds per response of a server whose optimized code is ready after half a second. */
const warm = [15, 15, 16, 15, 15]
const cold = [79, 46, 28, 27, 25]

it('a process is warm when half a second was no cheaper than the half before', () => {
  expect(isWarm([...warm, ...warm], ROUND)).toBe(true)
  expect(isWarm([...cold, ...warm], ROUND)).toBe(false)
  expect(isWarm([...cold, ...warm, ...warm], ROUND)).toBe(true)
})

it('a process is not warm before two half seconds', () => {
  expect(isWarm([15, ...warm, 15, 15, 15], ROUND)).toBe(false)
})

it('noise of a tenth does not keep a process cold', () => {
  expect(isWarm([15, 14, 17, 16, 15, 15, 17, 14, 16, 15], ROUND)).toBe(true)
})

it('a process whose code was discarded in the last round is not warm', () => {
  expect(isWarm([...warm, 15, 15, 16, 15, 55], ROUND)).toBe(false)
})

it('a round that is longer than the window is a window', () => {
  expect(isWarm([15, 15], 1000)).toBe(true)
  expect(isWarm([30, 15], 1000)).toBe(false)
  expect(isWarm([15], 1000)).toBe(false)
})
