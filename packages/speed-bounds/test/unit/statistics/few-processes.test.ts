import { describe, expect, it } from 'vitest'
import { compare } from '../../../src/statistics/comparison.ts'
import { syntheticRound } from '../../helpers/synthetic-race.ts'

/** The first look at two servers: two rounds of two processes of each. Rounds of a process differ by a factor. */
const firstLook = (factor: number) =>
  [1, 2].flatMap((cycle) =>
    [1, 2].flatMap((replica) =>
      (['a', 'b'] as const).map((subject) =>
        syntheticRound({
          ...{ cycle, replica, subject, responses: 1000, generatorCpu: 15 },
          cpu: 20 * ((cycle + replica) % 2 === 0 ? factor : 1),
        }),
      ),
    ),
  )

const errorOf = (factor: number, isDisturbed: boolean): number =>
  compare({ counted: firstLook(factor), isDisturbed }, 'a', 'b', 'cpu')!.difference.standardError

describe('a first look on a disturbed machine', () => {
  it('is less precise if the rounds of a process differ much', () => {
    expect(errorOf(1.5, true)).toBeGreaterThan(1.5 * errorOf(1.5, false))
  })

  it('keeps its precision if they hardly differ', () => {
    expect(errorOf(1.05, true)).toBe(errorOf(1.05, false))
  })
})
