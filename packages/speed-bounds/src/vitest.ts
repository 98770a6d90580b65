import { expect, type MatcherState } from 'vitest'
import { adviceText, judgementText } from './report/format.ts'
import { isOnPath } from './load/generator.ts'
import type { ClaimOptions } from './options/resolve.ts'
import type { Race, RunOptions } from './race/race.ts'
import { SpeedBoundsError } from './errors.ts'

/** Matchers for a {@link Race}; importing `speed-bounds/vitest` registers them. */
export interface SpeedBoundsMatchers {
  /**
   * The contender (by default the first subject of the race) is at least `atLeast` times as good as
   * `over`. Fails when that is broken, and when it could not be decided within the budget. With
   * `.not` it passes only when the claim is broken.
   *
   * @example
   * await expect(race({ fastify: './fastify.ts', express: './express.ts' }, { path: '/' }))
   *   .toOutpace('express', { atLeast: 1.5 })
   */
  toOutpace: (over: string, claim: ClaimOptions) => Promise<void>
  /**
   * All subjects of the race give the same answers to all its cases.
   *
   * @example
   * await expect(race({ fastify: './fastify.ts', express: './express.ts' }, { path: '/' })).toAnswerAlike()
   */
  toAnswerAlike: () => Promise<void>
}

declare module 'vitest' {
  // The type parameters repeat vitest's own, since only then do the declarations merge.
  interface Matchers<R extends void | Promise<void> = void | Promise<void>, T = unknown> extends SpeedBoundsMatchers {}
}

expect.extend({
  async toOutpace(received: Race, over: string, claim: ClaimOptions) {
    const judgement = await demandRace(received, 'toOutpace').decide(over, { ...timeoutOf(this), ...claim })
    const { verdict } = judgement
    const canUseWrk = received.generator !== 'wrk' && isOnPath('wrk')
    return {
      // An undecided claim passes neither way.
      pass: this.isNot ? verdict !== 'broken' : verdict === 'holds',
      message: () => [judgementText(judgement), adviceText(judgement, canUseWrk)].filter(Boolean).join('\n'),
    }
  },
  async toAnswerAlike(received: Race) {
    const race = demandRace(received, 'toAnswerAlike')
    try {
      await race.compareAnswers(timeoutOf(this))
      return { pass: true, message: () => `${race.subjects.join(', ')} all give the same answers` }
    } catch (error) {
      if (!(error instanceof SpeedBoundsError) || error.code !== 'SPEED_BOUNDS_WRONG_ANSWER') throw error
      return { pass: false, message: () => error.message }
    }
  },
})

/** A test that times out is failed by vitest, but nothing would end what it awaits. */
function timeoutOf({ task }: MatcherState): RunOptions {
  return task ? { signal: task.context.signal } : {}
}

function demandRace(received: Partial<Race>, matcher: string): Race {
  if (typeof received?.decide === 'function') return received as Race
  throw new SpeedBoundsError(
    'SPEED_BOUNDS_INVALID_OPTION',
    `Expected ${matcher}() to be given a race(), got ${JSON.stringify(received) ?? 'nothing'} (${typeof received})`,
  )
}
