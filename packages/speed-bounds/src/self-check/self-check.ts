import type { Metric, RaceOptions, Subject } from '../options/types.ts'
import { race } from '../race/race.ts'
import { compare } from '../statistics/comparison.ts'
import { countRounds } from '../statistics/counted-rounds.ts'
import { chanceOfAtLeast, detectable, median } from '../statistics/samples.ts'
import type { Decision, Estimate } from '../statistics/verdict.ts'

/** Options of {@link selfCheck}. */
export interface SelfCheckOptions extends RaceOptions {
  /** Number of races. */
  tries: number
  /** The bound that each race decides. With 1, every decided race is a wrong verdict. */
  atLeast: number
  /** The compared metric. @default both CPU and throughput */
  metric?: Metric
  /** Called after each race. */
  onTry?: (decision: Decision) => void
}

/** The outcome of races of a server against itself. */
export interface SelfCheck {
  readonly tries: number
  /** Races in which the claim held. */
  readonly held: number
  /** Races in which the claim was broken. */
  readonly broken: number
  /** Races with an interval that misses the true ratio, 1, and their share. */
  readonly wrong: number
  readonly falsePositiveRate: number
  /** A correct method would be wrong this often in less than 1 % of self-checks. */
  readonly isSuspect: boolean
  /** Smallest ratio that a race of this length finds with a probability of 80 %: the median over all races. */
  readonly smallestEffect: number
}

/** Races a server against itself: a live test of the method on this machine. */
export async function selfCheck(
  subject: Subject,
  { tries, atLeast, metric, onTry, ...options }: SelfCheckOptions,
): Promise<SelfCheck> {
  const decisions: Decision[] = []
  const effects: number[] = []
  for (let number = 0; number < tries; number++) {
    const seed = options.seed === undefined ? {} : { seed: options.seed + number }
    const match = race({ first: subject, second: subject }, { ...options, ...seed })
    const decision = await match.decide('second', { atLeast, ...(metric ? { metric } : {}) })
    decisions.push(decision)
    const { difference } = compare(countRounds(match.result().rounds).counted, 'first', 'second', metric ?? 'cpu') ?? {}
    const [estimate] = decision.estimates
    if (difference && estimate) effects.push(Math.exp(detectable(difference, 1 - estimate.confidence, 0.8)))
    onTry?.(decision)
  }
  const wrong = decisions.filter(({ estimates }) => estimates.some(misses)).length
  return {
    tries,
    held: decisions.filter(({ verdict }) => verdict === 'holds').length,
    broken: decisions.filter(({ verdict }) => verdict === 'broken').length,
    wrong,
    falsePositiveRate: wrong / tries,
    isSuspect: wrong > 0 && chanceOfAtLeast(wrong, tries, decisions[0]!.claim.alpha) < 0.01,
    smallestEffect: effects.length > 0 ? median(effects) : Number.NaN,
  }
}

/** Whether the interval of an estimate that decides something misses the true ratio. */
function misses({ low, high, generatorBound, disturbed }: Estimate): boolean {
  return !generatorBound && !disturbed && (low > 1 || high < 1)
}
