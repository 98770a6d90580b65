import { expect, it } from 'vitest'
import { looksOf } from '../../../src/functions/looks.ts'

it.each([
  [3, [3]],
  [4, [3, 4]],
  [12, [3, 6, 12]],
  [48, [3, 6, 12, 24, 48]],
])('looks at the data whenever the processes have doubled, up to %i', (replicas, looks) => {
  expect(looksOf(replicas)).toEqual(looks)
})
