import { describe, expect, it } from 'vitest'
import { neighborsOf, type TriedRace, visibleEffect } from '../../../src/self-check/visible-effects.ts'
import type { Round } from '../../../src/statistics/measured-round.ts'
import { syntheticRound } from '../../helpers/synthetic-race.ts'

/** Costs of processes around 20 µs. Both subjects have the same ones. */
const SPREAD = [0.97, 1.02, 0.99, 1.03, 1, 0.98, 1.01, 1.02, 0.96, 1.02]

/** Five processes of each subject in each stage of 20 s. */
const rounds = SPREAD.flatMap((factor, index): Round[] =>
  ['first', 'second'].map((subject) =>
    syntheticRound({
      ...{ subject, stage: index < 5 ? 1 : 2, replica: index + 1, cpu: 20 * factor },
      at: index < 5 ? 5000 + index * 3000 : 25_000 + index * 1000,
    }),
  ),
)
const race: TriedRace = { rounds, metric: 'cpu', alpha: 0.001 }

describe('the smallest visible effect', () => {
  it('is that of the rounds until a time, and smaller with more of them', () => {
    const [early, late] = [20_000, 60_000].map((time) => visibleEffect([race], time).ratio)
    // By hand: (5.041 + 0.889) * 0.0239 * sqrt(2 / 5), and (3.922 + 0.862) * 0.0237 * sqrt(2 / 10).
    expect(early).toBeCloseTo(Math.exp(0.0896), 2)
    expect(late).toBeCloseTo(Math.exp(0.0507), 2)
  })

  it('of noisier processes is larger', () => {
    const noisy = rounds.map((round) => ({ ...round, cpu: round.cpu ** 2 / 20 }))
    expect(visibleEffect([{ ...race, rounds: noisy }], 60_000).ratio).toBeGreaterThan(
      visibleEffect([race], 60_000).ratio * 1.03,
    )
  })

  it('is unknown while most races have too little data', () => {
    expect(visibleEffect([race], 1000)).toEqual({ time: 1000, ratio: Number.NaN })
    const empty = { ...race, rounds: [] }
    expect(visibleEffect([race, empty, empty], 60_000).ratio).toBeNaN()
    expect(visibleEffect([race, race, empty], 60_000).ratio).toBe(visibleEffect([race], 60_000).ratio)
  })
})

it('tells how much other programs took', () => {
  const foreign = [0.1, 0.2, 1.5, 1.8].map((foreignCpu) =>
    syntheticRound({ foreignCpu, ...(foreignCpu > 1 ? { discarded: 'foreign-cpu' } : {}) }),
  )
  expect(neighborsOf([{ ...race, rounds: foreign }])).toEqual({ foreignCpu: expect.closeTo(0.9), discarded: 0.5 })
})
