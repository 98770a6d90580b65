import { describe, expect, it } from 'vitest'
import { countRounds } from '../../../src/statistics/counted-rounds.ts'
import type { Round } from '../../../src/statistics/measured-round.ts'
import { syntheticRound } from '../../helpers/synthetic-race.ts'

/** Rounds of some processes of two subjects, of which the first ones are discarded. */
function roundsWith({ replicas, cycles, discarded }: Record<'replicas' | 'cycles' | 'discarded', number>): Round[] {
  return Array.from({ length: replicas * cycles * 2 }, (_, index) =>
    syntheticRound({
      subject: index % 2 === 0 ? 'a' : 'b',
      replica: (Math.floor(index / 2) % replicas) + 1,
      cycle: Math.floor(index / (2 * replicas)) + 1,
      ...(index < discarded ? { foreignCpu: 1.2, discarded: 'foreign-cpu' as const } : {}),
    }),
  )
}

describe('countRounds', () => {
  it('drops discarded rounds', () => {
    const { counted, isDisturbed } = countRounds(roundsWith({ replicas: 5, cycles: 2, discarded: 9 }))
    expect(counted).toHaveLength(11)
    expect(isDisturbed).toBe(false)
  })

  it('counts all rounds where most are discarded, and trusts only their CPU', () => {
    const { counted, isDisturbed } = countRounds(roundsWith({ replicas: 5, cycles: 2, discarded: 11 }))
    expect(counted).toHaveLength(20)
    expect(isDisturbed).toBe(true)
  })

  it('counts all rounds of two processes of each subject, and trusts only their CPU if most are disturbed', () => {
    const half = countRounds(roundsWith({ replicas: 2, cycles: 2, discarded: 4 }))
    expect(half.counted).toHaveLength(8)
    const most = countRounds(roundsWith({ replicas: 2, cycles: 2, discarded: 5 }))
    expect(most).toMatchObject({ counted: { length: 8 }, isDisturbed: true })
    const undisturbed = countRounds(roundsWith({ replicas: 2, cycles: 2, discarded: 0 }))
    expect(undisturbed).toMatchObject({ counted: { length: 8 }, isDisturbed: false })
  })

  it('drops discarded rounds of two processes after their first look', () => {
    expect(countRounds(roundsWith({ replicas: 2, cycles: 4, discarded: 4 })).counted).toHaveLength(12)
  })
})
