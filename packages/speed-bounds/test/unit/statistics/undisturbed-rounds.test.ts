import { describe, expect, it } from 'vitest'
import { compare } from '../../../src/statistics/comparison.ts'
import type { Round } from '../../../src/statistics/measured-round.ts'
import { undisturbedRounds } from '../../../src/statistics/undisturbed-rounds.ts'
import { syntheticRound } from '../../helpers/synthetic-race.ts'

const roundWith = (generatorCpu: number, values: Partial<Round> = {}): Round =>
  syntheticRound({ generatorCpu, ...values })
const generatorCpus = (rounds: readonly Round[]): number[] => rounds.map(({ generatorCpu }) => generatorCpu)

describe('undisturbedRounds', () => {
  it('keeps half of the rounds of a process: those with the least CPU of the generator', () => {
    expect(generatorCpus(undisturbedRounds([19, 15, 30, 14].map((cpu) => roundWith(cpu))))).toEqual([14, 15])
  })

  it('keeps the middle one of an odd number, and a single one', () => {
    expect(generatorCpus(undisturbedRounds([19, 15, 30].map((cpu) => roundWith(cpu))))).toEqual([15, 19])
    expect(generatorCpus(undisturbedRounds([roundWith(99)]))).toEqual([99])
  })

  it('chooses within each process, and within each case', () => {
    const rounds = [
      ...[20, 21].map((cpu) => roundWith(cpu, { replica: 1 })),
      ...[10, 11].map((cpu) => roundWith(cpu, { replica: 2 })),
      ...[30, 31].map((cpu) => roundWith(cpu, { subject: 'b' })),
      ...[40, 41].map((cpu) => roundWith(cpu, { case: 'GET /other' })),
    ]
    expect(generatorCpus(undisturbedRounds(rounds))).toEqual([20, 10, 30, 40])
  })

  it('never chooses by the cost of the server', () => {
    const rounds = [
      roundWith(14, { cpu: 500 }),
      roundWith(15, { cpu: 400 }),
      roundWith(16, { cpu: 1 }),
      roundWith(17, { cpu: 2 }),
    ]
    expect(undisturbedRounds(rounds).map(({ cpu }) => cpu)).toEqual([500, 400])
  })
})

describe('compare', () => {
  const undisturbed = (counted: readonly Round[]) => ({ counted, isDisturbed: false })
  const levels = { a: 20, b: 24 }
  /** The machine is half as fast in odd cycles, and then so is the generator. */
  const rounds = Array.from({ length: 6 }, (_, index) => index + 1).flatMap((cycle) =>
    [1, 2, 3].flatMap((replica) =>
      (['a', 'b'] as const).map((subject) =>
        syntheticRound({
          ...{ cycle, replica, subject, responses: 1000 },
          cpu: levels[subject] * (cycle % 2 === 1 ? 2 : 1),
          generatorCpu: cycle % 2 === 1 ? 30 : 15,
        }),
      ),
    ),
  )

  it('compares CPU over undisturbed rounds', () => {
    // A disturbed round of one process only, which no other round of its cycle shows.
    const disturbed = rounds.map((round) =>
      round.subject === 'a' && round.replica === 1 && round.cycle === 1 ? { ...round, cpu: 900 } : round,
    )
    expect(Math.exp(compare(undisturbed(disturbed), 'a', 'b', 'cpu')!.difference.difference)).toBeCloseTo(24 / 20, 6)
  })

  it('removes the state of the machine in a cycle, where different processes keep different cycles', () => {
    // Without disturbances of the generator, each process keeps other cycles.
    const uneven = rounds.map((round, index) => ({ ...round, generatorCpu: 15 + ((index * 7) % 5) / 10 }))
    const { difference } = compare(undisturbed(uneven), 'a', 'b', 'cpu')!
    expect(Math.abs(difference.difference - Math.log(24 / 20))).toBeLessThan(0.1)
  })
})
