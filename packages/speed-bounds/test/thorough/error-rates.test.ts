import { describe, expect, it } from 'vitest'
import { FIRST_CYCLES } from '../../src/statistics/interim-looks.ts'
import { claim, machines } from '../helpers/synthetic-machines.ts'
import { type Machine, METHOD, syntheticRace } from '../helpers/synthetic-race.ts'

const TRIALS = 4000
/** Tells an error rate of 0.9 % from 1 %. */
const MORE_TRIALS = 10_000

function shareOf(
  machine: Machine,
  factor: number,
  atLeast: number,
  verdicts: readonly string[],
  trials = TRIALS,
  method = METHOD,
): number {
  let count = 0
  for (let seed = 1; seed <= trials; seed++) {
    if (verdicts.includes(syntheticRace(machine, factor, claim(atLeast), seed, method).verdict)) count++
  }
  return count / trials
}

describe.each(Object.entries(machines))('with %s', (_name, machine) => {
  const trials = machine === machines['processes in two modes 22 % apart'] ? MORE_TRIALS : TRIALS

  it('calls identical servers different in at most 1 % of races', () => {
    expect(shareOf(machine, 1, 1, ['holds', 'broken'], trials)).toBeLessThanOrEqual(0.01)
  })

  it('never lets a claim of 1.1x hold for identical servers', () => {
    expect(shareOf(machine, 1, 1.1, ['holds'])).toBe(0)
  })
})

describe.each(Object.entries(machines).filter(([, machine]) => 'heat' in machine))(
  'other shapes of a race, with %s',
  (_, machine) => {
    it.each([
      ['without turns', { ...METHOD, inTurns: false }],
      ['with more processes that are visited less', { ...METHOD, replicas: 8, cycles: 2 }],
    ])('call identical servers different in at most 1 % of races, %s', (_name, method) => {
      expect(shareOf(machine, 1, 1, ['holds', 'broken'], TRIALS, method)).toBeLessThanOrEqual(0.01)
    })
  },
)

describe.each(Object.entries(machines))('successive heats, with %s', (_, machine) => {
  it.each([
    ['in turns', { ...METHOD, successive: true }],
    ['in two whole rounds', { ...METHOD, successive: true, inTurns: false, cycles: 2 }],
    ['in turns, with two rounds of eight processes', { ...METHOD, successive: true, replicas: 8, cycles: 2 }],
  ])('call identical servers different in at most 1 % of races, %s', (_name, method) => {
    expect(shareOf(machine, 1, 1, ['holds', 'broken'], TRIALS, method)).toBeLessThanOrEqual(0.01)
  })
})

describe('a true difference', () => {
  const { 'processes that differ by 2 %': usual, 'processes in two modes 22 % apart': twoModes } = machines
  const { 'a fifth of the rounds given to others': given } = machines

  it.each([
    ['that 3x is at least 1.5x, at the first look', usual, 3, 1.5, 0.999],
    ['that 1.1x is at least 1x', usual, 1.1, 1, 0.9],
    ['that 1.15x is at least 1x', usual, 1.15, 1, 0.99],
    ['that 1.6x is at least 1.2x, with processes in two modes', twoModes, 1.6, 1.2, 0.9],
    ['that 3x is at least 1.5x, with a fifth of the rounds given to others', given, 3, 1.5, 0.95],
  ])('is found: %s', (_name, machine, factor, atLeast, power) => {
    expect(shareOf(machine, factor, atLeast, ['holds'], 1000)).toBeGreaterThanOrEqual(power)
  })

  it('of 1.15x is found on temporarily slow cores only in turns', () => {
    const { 'cores that are slower for a while': slower } = machines
    expect(shareOf(slower, 1.15, 1, ['holds'], 1000)).toBeGreaterThanOrEqual(0.95)
    expect(shareOf(slower, 1.15, 1, ['holds'], 1000, { ...METHOD, inTurns: false })).toBeLessThan(0.9)
  })

  it('of 1.15x is found on ever-changing cores in more than 40 % of races', () => {
    expect(shareOf(machines['cores that are never the same'], 1.15, 1, ['holds'], 1000)).toBeGreaterThanOrEqual(0.43)
  })

  it('breaks the claim that the slower server is faster', () => {
    expect(shareOf(usual, 1 / 1.5, 1.1, ['broken'], 1000)).toBeGreaterThanOrEqual(0.99)
  })

  it('with a wide margin is decided with two processes of each server in 80 % of races', () => {
    const looks = Array.from({ length: 500 }, (_, seed) => syntheticRace(usual, 3, claim(1.5), seed + 1).taken)
    expect(looks.filter((look) => look <= FIRST_CYCLES).length / looks.length).toBeGreaterThanOrEqual(0.8)
  })
})
