import { describe, expect, it } from 'vitest'
import { bound, counted, ratio, ratioWithInterval, setTime } from '../../../src/report/format.ts'

it.each([
  [0.0899, '0.090x'],
  [0.9994, '0.999x'],
  [0.9996, '1.00x'],
  [1, '1.00x'],
  [20, '20.0x'],
])('rounds the ratio %d to three digits', (value, text) => {
  expect(ratio(value)).toBe(text)
})

describe('ratioWithInterval', () => {
  it('has the ratio, and its interval in parentheses', () => {
    expect(ratioWithInterval({ ratio: 2.309, low: 0.934, high: 2.42 })).toBe('2.31x (0.934x to 2.42x)')
  })

  it('says so in place of an interval that tells nothing', () => {
    expect(ratioWithInterval({ ratio: 1.02, low: 0.082, high: 50.8 })).toBe('1.02x (too little data for an interval)')
    expect(ratioWithInterval({ ratio: 1, low: 0, high: Number.MAX_VALUE })).toBe(
      '1.00x (too little data for an interval)',
    )
  })

  it('has a wide interval that tells which one is better', () => {
    expect(ratioWithInterval({ ratio: 200, low: 20, high: 2000 })).toBe('200x (20.0x to 2,000x)')
  })
})

it.each([
  [0, '0 users'],
  [1, '1 user'],
  [2, '2 users'],
])('counts %i of a noun', (count, text) => {
  expect(counted(count, 'user')).toBe(text)
})

it.each([
  [1, '1 ms'],
  [100, '100 ms'],
  [1500, '1.5 s'],
  [60_000, '60 s'],
])('writes a set time of %i ms exactly', (time, text) => {
  expect(setTime(time)).toBe(text)
})

it.each([
  [1, '1x'],
  [1.0001, '1.0001x'],
  [3 * 1.1, '3.3x'],
  [1000, '1000x'],
])('writes the bound %d as it is given', (value, text) => {
  expect(bound(value)).toBe(text)
})
