// A small part of test/thorough/error-rates.test.ts, for each run of the unit tests. All tests together fail a correct
// method with a probability below 1e-6.

import { describe, expect, it } from 'vitest'
import { FIRST_CYCLES } from '../../../src/statistics/interim-looks.ts'
import { chanceOfAtLeast } from '../../../src/statistics/samples.ts'
import type { Claim } from '../../../src/options/resolved.ts'
import { claim, machines } from '../../helpers/synthetic-machines.ts'
import { type Machine, METHOD, syntheticRace } from '../../helpers/synthetic-race.ts'

const TRIALS = 500
/** Maximum probability that one of these dozen tests fails by chance. */
const FALSE_ALARM = 5e-8

/** Maximum number of trials with a result of at most this probability. */
function mostOf(probability: number, trials: number = TRIALS): number {
  let count = 0
  while (chanceOfAtLeast(count + 1, trials, probability) > FALSE_ALARM) count++
  return count
}

/** Minimum number of trials with a result of at least this probability. */
function leastOf(probability: number): number {
  return TRIALS - mostOf(1 - probability)
}

function racesWith(
  verdicts: readonly string[],
  machine: Machine,
  factor: number,
  judged: Claim,
  method: typeof METHOD = METHOD,
  trials: number = TRIALS,
): number {
  const seeds = Array.from({ length: trials }, (_, index) => index + 1)
  return seeds.filter((seed) => verdicts.includes(syntheticRace(machine, factor, judged, seed, method).verdict)).length
}

const {
  'processes that differ by 2 %': usual,
  'processes in two modes 22 % apart': twoModes,
  'cores that are slower for a while': slower,
  'cores that are never the same': changing,
  'a fifth of the rounds given to others': given,
  'two cores that many programs share': shared,
} = machines

it('the bounds fail a correct method once in a million runs', () => {
  expect([mostOf(0.01), leastOf(0.9), leastOf(0.95)]).toEqual([21, 411, 445])
  expect(chanceOfAtLeast(22, TRIALS, 0.01)).toBeLessThan(FALSE_ALARM)
  expect(chanceOfAtLeast(21, TRIALS, 0.01)).toBeGreaterThan(FALSE_ALARM)
})

it.each([
  ['with processes that differ by 2 %', usual, METHOD],
  ['with processes in two modes', twoModes, METHOD],
  ['with cores that are slower for a while', slower, METHOD],
  ['with cores that are never the same', changing, METHOD],
  ['with two cores that many programs share', shared, METHOD],
  ['with a fifth of the rounds given to others', given, METHOD],
  ['with processes in two modes and heats one after the other', twoModes, { ...METHOD, successive: true }],
  ['with cores that are slower for a while, without turns', slower, { ...METHOD, inTurns: false }],
])('calls identical servers different in at most one race of a hundred, %s', (_name, machine, method) => {
  expect(racesWith(['holds', 'broken'], machine, 1, claim(1), method)).toBeLessThanOrEqual(mostOf(0.01))
})

// With two pairs there is one degree of freedom, where four processes would have two. These races are short, so there are more.
it('treats a fixed pair of processes as one sample', () => {
  const machine: Machine = {
    process: (chance) => 0.1 * chance.normal(),
    round: (chance) => 0.01 * chance.normal(),
    cycle: () => 0,
    heat: (chance) => 0.3 * chance.normal(),
  }
  const alpha = 0.02
  const judged: Claim = { ...claim(1), metrics: ['cpu'], alpha }
  const method = { ...METHOD, replicas: 2, stages: 1, successive: true }
  expect(racesWith(['holds', 'broken'], machine, 1, judged, method, 5000)).toBeLessThanOrEqual(mostOf(alpha, 5000))
})

describe('a true difference', () => {
  it.each([
    ['that 1.1x is at least 1x', usual, 1.1, 1, 0.9],
    ['that 2x is at least 1x, with two cores that many programs share', shared, 2, 1, 0.99],
    ['that 3x is at least 1.5x, with a fifth of the rounds given to others', given, 3, 1.5, 0.95],
    ['that 1.15x is at least 1x, on cores that are slower for a while', slower, 1.15, 1, 0.95],
    ['that 1.15x is at least 1x, on cores that are never the same', changing, 1.15, 1, 0.43],
  ])('is found: %s', (_name, machine, factor, atLeast, power) => {
    expect(racesWith(['holds'], machine, factor, claim(atLeast))).toBeGreaterThanOrEqual(leastOf(power))
  })

  it.each([
    ['2x is at least 1x', usual, 2, 0.8],
    ['2.5x is at least 1x, with two cores that many programs share', shared, 2.5, 0.9],
    ['4x is at least 1x, with two cores that many programs share', shared, 4, 0.95],
  ])('is found with two processes of each server: %s', (_name, machine, factor, power) => {
    const seeds = Array.from({ length: TRIALS }, (_, index) => index + 1)
    const early = seeds.filter((seed) => {
      const { verdict, taken } = syntheticRace(machine, factor, claim(1), seed)
      return verdict === 'holds' && taken <= FIRST_CYCLES
    })
    expect(early.length).toBeGreaterThanOrEqual(leastOf(power))
  })
})
