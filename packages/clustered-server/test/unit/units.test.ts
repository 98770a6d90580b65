import { expect, it } from 'vitest'
import { parseWithUnit } from '../../src/cli/units.ts'

it.each([
  ['500', 500],
  ['500ms', 500],
  ['30s', 30_000],
  ['1.5h', 5_400_000],
  ['2 m', 120_000],
  ['1d', 86_400_000],
])('parses the time %s', (text, expected) => {
  expect(parseWithUnit(text, 'milliseconds')).toBe(expected)
})

it.each([
  ['1024', 1024],
  ['300M', 300 * 2 ** 20],
  ['300mb', 300 * 2 ** 20],
  ['1.5G', 1.5 * 2 ** 30],
  ['64k', 64 * 1024],
])('parses the size %s', (text, expected) => {
  expect(parseWithUnit(text, 'bytes')).toBe(expected)
})

it.each(['', 's', '-1s', '1x', '1 s s', '1e3', '0x10', '1,5s', '300G'])('leaves the invalid time %j', (text) => {
  expect(parseWithUnit(text, 'milliseconds')).toBe(text)
})
