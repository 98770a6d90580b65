import type { Metric, RaceOptions, Subject } from '../options/types.ts'
import { race } from '../race/race.ts'
import { chanceOfAtLeast } from '../statistics/samples.ts'
import type { Decision, Estimate } from '../statistics/verdict.ts'
import {
  type Neighbors,
  neighborsOf,
  TIMES,
  type TriedRace,
  type VisibleEffect,
  visibleEffect,
} from './visible-effects.ts'

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
  /** Smallest ratios that races find with a probability of 80 %, by their length. */
  readonly visible: readonly VisibleEffect[]
  readonly neighbors: Neighbors
}

/** Races a server against itself: a live test of the method on this machine. */
export async function selfCheck(
  subject: Subject,
  { tries, atLeast, metric, onTry, ...options }: SelfCheckOptions,
): Promise<SelfCheck> {
  const decisions: Decision[] = []
  const races: TriedRace[] = []
  for (let number = 0; number < tries; number++) {
    const seed = options.seed === undefined ? {} : { seed: options.seed + number }
    const match = race({ first: subject, second: subject }, { ...options, ...seed })
    const decision = await match.decide('second', { atLeast, ...(metric ? { metric } : {}) })
    decisions.push(decision)
    races.push({
      rounds: match.result().rounds,
      metric: metric ?? 'cpu',
      alpha: decision.claim.alpha / decision.claim.metrics.length,
    })
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
    visible: TIMES.map((time) => visibleEffect(races, time)),
    neighbors: neighborsOf(races),
  }
}

/** Whether the interval of an estimate that decides something misses the true ratio. */
function misses({ low, high, generatorBound, disturbed }: Estimate): boolean {
  return !generatorBound && !disturbed && (low > 1 || high < 1)
}
