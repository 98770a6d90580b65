import type { RaceResult, Round, Verdict } from 'speed-bounds'
import { expect, it } from 'vitest'
import { whyUndecided } from '../perf/undecided.ts'

const claimed = { contender: 'ours', over: 'theirs', case: 'hello' }
const judged = (verdict: Verdict): typeof claimed & { verdict: Verdict } => ({ ...claimed, verdict })

/** As many rounds of the claim as there are figures, and one of another race beside each. */
const raceWith = (foreignCpu: readonly number[]): Pick<RaceResult, 'rounds' | 'method'> => ({
  method: { maxForeignCpu: 1 } as RaceResult['method'],
  rounds: foreignCpu.flatMap((value, index) => [
    { subject: index % 2 ? 'ours' : 'theirs', case: 'hello', foreignCpu: value } as Round,
    { subject: 'others', case: 'hello', foreignCpu: 2 - value } as Round,
    { subject: 'ours', case: 'bye', foreignCpu: 2 - value } as Round,
  ]),
})

const quiet = raceWith([0.6, 0.9, 0, 0.1, 0.1, 0.2])
const busy = raceWith([0.6, 0.9, 1.7, 0.1, 0.1, 0.2])

it.each([
  ['holds', judged('holds'), busy, true],
  ['is broken, however busy the machine was', judged('broken'), busy, true],
  ['is inconclusive on a quiet machine', judged('inconclusive'), quiet, false],
])('a claim that %s is decided', (_, claim, rounds, outOfTime) => {
  expect(whyUndecided(claim, rounds, outOfTime)).toBeUndefined()
})

it('a claim of which a busy machine left too little is undecided, and so is one without time', () => {
  expect(whyUndecided(judged('inconclusive'), busy, false)).toBe(
    'other programs kept the machine busy in 3 of 6 rounds',
  )
  expect(whyUndecided(judged('inconclusive'), quiet, true)).toBe('the run had taken its time before')
})
