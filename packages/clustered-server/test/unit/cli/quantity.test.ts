import { expect, it } from 'vitest'
import { parseBytes, parseMilliseconds } from '../../../src/cli/quantity.ts'

it.each([
  ['1048576', 2 ** 20],
  ['300M', 300 * 2 ** 20],
  ['300mb', 300 * 2 ** 20],
  ['1.5G', 1.5 * 2 ** 30],
  ['64K', 2 ** 16],
  ['', undefined],
  ['M', undefined],
  ['-1M', undefined],
  ['300 apples', undefined],
])('%j is %j bytes', (text, bytes) => {
  expect(parseBytes(text)).toBe(bytes)
})

it.each([
  ['1500', 1500],
  ['1500ms', 1500],
  ['30s', 30_000],
  ['1.5m', 90_000],
  ['2h', 7_200_000],
  ['', undefined],
  ['s', undefined],
  ['-1s', undefined],
  ['30 days', undefined],
])('%j is %j milliseconds', (text, milliseconds) => {
  expect(parseMilliseconds(text)).toBe(milliseconds)
})
