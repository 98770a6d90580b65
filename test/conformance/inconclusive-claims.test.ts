import { race, type RaceResult, type Round, type Verdict } from 'speed-bounds'
import { expect, it } from 'vitest'
import { claimBudget, excuseOf } from '../perf/inconclusive.ts'

const claimed = { contender: 'ours', over: 'theirs', case: 'hello' }
const judged = (verdict: Verdict): typeof claimed & { verdict: Verdict } => ({ ...claimed, verdict })

/** As many rounds of the claim as there are figures, and one of another race beside each. */
const raceWith = (foreignCpu: readonly number[]): Pick<RaceResult, 'rounds' | 'method'> => ({
  method: { maxForeignCpu: 1 } as RaceResult['method'],
  rounds: foreignCpu.flatMap((value, index) => [
    { subject: index % 2 ? 'ours' : 'theirs', case: 'hello', stage: 1, foreignCpu: value } as Round,
    { subject: 'others', case: 'hello', foreignCpu: 2 - value } as Round,
    { subject: 'ours', case: 'bye', foreignCpu: 2 - value } as Round,
  ]),
})

const inTime = { isTimeShort: false, mostStages: 5 }
const late = { isTimeShort: true, mostStages: 5 }
const headline = { isTimeShort: true, mostStages: Infinity }

const quiet = raceWith([0.6, 0.9, 0, 0.1, 0.1, 0.2])
const busy = raceWith([0.6, 0.9, 1.7, 0.1, 0.1, 0.2])

it.each([
  ['holds', judged('holds'), busy, late],
  ['is broken, however busy the machine was', judged('broken'), busy, late],
  ['is inconclusive on a quiet machine', judged('inconclusive'), quiet, inTime],
  ['is inconclusive after all its stages', judged('inconclusive'), quiet, { isTimeShort: true, mostStages: 1 }],
])('a claim that %s has no excuse', (_, claim, rounds, time) => {
  expect(excuseOf(claim, rounds, time)).toBeUndefined()
})

it('an inconclusive claim is excused by a busy machine and by missing time', () => {
  expect(excuseOf(judged('inconclusive'), busy, inTime)).toBe('other programs kept the machine busy in 3 of 6 rounds')
  expect(excuseOf(judged('inconclusive'), quiet, late)).toBe('its time ran out')
})

it('an inconclusive claim is excused wherever a run has seconds for each claim', () => {
  expect(excuseOf(judged('inconclusive'), quiet, headline)).toBe('its time ran out')
  expect(excuseOf(judged('broken'), quiet, headline)).toBeUndefined()
})

it('a claim has its usual time, or what is left of the run', () => {
  expect([claimBudget(5000, 9000), claimBudget(5000, 700.9)]).toEqual([5000, 700])
})

it.each([0, -1, -60_000])('a claim may still be made when %i ms of the run are left', (left) => {
  const budget = claimBudget(5000, left)
  expect(() => race({ ours: 'ours.ts', theirs: 'theirs.ts' }, { path: '/', budget })).not.toThrow()
})
