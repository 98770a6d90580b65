import { expect, it } from 'vitest'
import { Looks } from '../../../src/statistics/looks.ts'
import type { Round } from '../../../src/statistics/measured-round.ts'
import { claim } from '../../helpers/synthetic-machines.ts'
import { syntheticRound } from '../../helpers/synthetic-race.ts'

const cpuClaim = { ...claim(1), metrics: ['cpu' as const] }

const roundsOfTwo = (cycles: number): Round[] =>
  Array.from({ length: cycles }, (_, index) => index + 1).flatMap((cycle) =>
    [1, 2, 3].flatMap((replica) =>
      ['a', 'b'].map((subject) => syntheticRound({ cycle, replica, subject, cpu: 20 + replica })),
    ),
  )

it('gives a second look at the same rounds the alpha of both', () => {
  const rounds = roundsOfTwo(2)
  const looks = new Looks(cpuClaim, () => rounds)
  expect(looks.at(0.5).estimates[0]!.confidence).toBeCloseTo(1 - 0.01 * 0.25, 12)
  expect(looks.at(1).estimates[0]!.confidence).toBeCloseTo(1 - 0.01, 12)
})

it('gives a look at new rounds only what is left', () => {
  let rounds = roundsOfTwo(2)
  const looks = new Looks(cpuClaim, () => rounds)
  looks.at(0.5)
  rounds = roundsOfTwo(3)
  expect(looks.at(1).estimates[0]!.confidence).toBeCloseTo(1 - 0.01 * 0.75, 12)
})

it('divides the alpha of a look by the metrics', () => {
  const looks = new Looks(claim(1), () => roundsOfTwo(2))
  const { estimates } = looks.at(1)
  expect(estimates.map(({ metric }) => metric)).toEqual(['cpu', 'throughput'])
  for (const { confidence } of estimates) expect(confidence).toBeCloseTo(1 - 0.005, 12)
})

it('decides nothing at a look without alpha', () => {
  const rounds = roundsOfTwo(2).map((round) => (round.subject === 'b' ? { ...round, cpu: 100 * round.cpu } : round))
  const { verdict, estimates } = new Looks(cpuClaim, () => rounds).at(0)
  expect(verdict).toBe('inconclusive')
  expect(estimates[0]!.low).toBe(0)
})
