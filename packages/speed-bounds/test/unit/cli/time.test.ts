import { expect, it } from 'vitest'
import { time } from '../../../src/cli/time.ts'

it.each<[text: string, milliseconds: number]>([
  ['60s', 60_000],
  ['200ms', 200],
  ['1.5s', 1500],
  ['1.1s', 1100],
  ['2m', 120_000],
  ['0ms', 0],
])('takes %s for %i milliseconds', (text, milliseconds) => {
  expect(time('ms')(text)).toBe(milliseconds)
})

it.each(['60us', '60µs', '0.06ms'])('takes %s for 60 microseconds', (text) => {
  expect(time('us')(text)).toBe(60)
})

it.each(['60', '0', '1.5', '1s2', '', 's', 'soon', '5 apples', '-5s'])('rejects %j, and shows a unit', (text) => {
  expect(() => time('ms')(text)).toThrow('Expected a time with its unit, such as 60s or 200ms.')
})
