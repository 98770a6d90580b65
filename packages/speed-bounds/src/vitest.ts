import { expect, type MatcherState } from 'vitest'
import { errorCodes } from './errors.ts'
import { isOnPath } from './load/find-program.ts'
import type { FunctionRace } from './functions/function-race.ts'
import type { ClaimOptions } from './options/types.ts'
import type { Race, RunOptions } from './race/race.ts'
import { adviceText, failureText } from './report/claim-sentences.ts'

/** Matchers for a race. Import `speed-bounds/vitest` to register them. */
export interface SpeedBoundsMatchers {
  /**
   * Passes if the contender is at least `atLeast` times as good as `over`. Fails if the claim is broken or inconclusive.
   * With `.not`, it passes only if the claim is broken.
   *
   * @example
   * await expect(race({ fastify: './fastify.ts', express: './express.ts' }, { path: '/' }))
   *   .toOutpace('express', { atLeast: 1.5 })
   * await expect(race(new URL('./parse.bench.ts', import.meta.url))).toOutpace('theirs', { atLeast: 1.2 })
   */
  toOutpace: (over: string, claim: ClaimOptions) => Promise<void>
  /**
   * Passes if all subjects of the race send the same responses to all its cases.
   *
   * @example
   * await expect(race({ fastify: './fastify.ts', express: './express.ts' }, { path: '/' })).toHaveSameResponses()
   */
  toHaveSameResponses: () => Promise<void>
}

declare global {
  // The assertions of vitest extend chai's. Those of vitest 4 and 5 have other type parameters, chai's have none.
  namespace Chai {
    interface Assertion extends SpeedBoundsMatchers {}
  }
}

expect.extend({
  async toOutpace(received: Race | FunctionRace, over: string, claim: ClaimOptions) {
    const { isNot } = this
    const race = assertRace<Race | FunctionRace>(received, 'toOutpace')
    const decision = await race.decide(over, { ...signalOf(this), ...claim })
    const { verdict } = decision
    const canUseWrk = 'generator' in race && race.generator !== 'wrk' && isOnPath('wrk')
    return {
      // An inconclusive claim fails both ways.
      pass: isNot ? verdict !== 'broken' : verdict === 'holds',
      message: () => [failureText(decision, isNot), adviceText(decision, canUseWrk)].filter(Boolean).join('\n'),
    }
  },
  async toHaveSameResponses(received: Race) {
    const race = assertRace(received, 'toHaveSameResponses')
    try {
      await race.compareResponses(signalOf(this))
      return { pass: true, message: () => `expected ${race.subjects.join(', ')} not to have the same responses` }
    } catch (error) {
      if (!(error instanceof errorCodes.SPEED_BOUNDS_WRONG_RESPONSE)) throw error
      return { pass: false, message: () => error.message }
    }
  },
})

/** The signal of the test. vitest fails a test that times out, but does not end its race. */
function signalOf({ task }: MatcherState): RunOptions {
  return task ? { signal: task.context.signal } : {}
}

/** A race of functions has no responses. */
function assertRace<T extends Race | FunctionRace = Race>(received: Partial<T>, matcher: string): T {
  const method = matcher === 'toOutpace' ? 'decide' : 'compareResponses'
  if (typeof (received as Partial<Race> | undefined)?.[method] === 'function') return received as T
  throw new errorCodes.SPEED_BOUNDS_INVALID_OPTION(
    `Invalid argument of expect(): ${matcher}() expects a race, got ${typeof received}.`,
  )
}
