import { expect, it } from 'vitest'
import { percentage } from '../../../src/cli/percentage.ts'

it.each([
  ['5%', 0.05],
  ['2.5%', 0.025],
  ['10 %', 0.1],
])('takes %s for %d', (text, share) => {
  expect(percentage(text)).toBe(share)
})

it.each(['5', '0%', '100%', '-5%', 'much', '', '%', '5%%'])('rejects %j', (text) => {
  expect(() => percentage(text)).toThrow('Expected a percentage above 0%, such as 5%.')
})
