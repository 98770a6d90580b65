import { race } from '../race/race.ts'
import type { Metric, RaceOptions, Subject } from '../options/resolve.ts'
import { compare, intervalAlpha, type Judgement } from '../statistics/verdict.ts'
import { chanceOfAtLeast, detectable, median } from '../statistics/samples.ts'

/** Options of {@link selfCheck}. */
export interface SelfCheckOptions extends RaceOptions {
  /** How many races to run. */
  tries: number
  /** The claim that each race decides; with 1 every decided race is a wrong verdict. */
  atLeast: number
  /** What is compared. @default both CPU and throughput */
  metric?: Metric
  /** Called after each race. */
  onTry?: (judgement: Judgement) => void
}

/** What racing a server against itself showed. */
export interface SelfCheck {
  readonly tries: number
  /** Races that called a server better than itself by at least the bound. */
  readonly held: number
  /** Races that called it worse than the bound. */
  readonly broken: number
  /** Races whose interval, of any metric, missed the truth, which is 1; and their share. */
  readonly wrong: number
  readonly falsePositiveRate: number
  /** A method that is right would be wrong this often in less than 1 % of self-checks. */
  readonly isSuspect: boolean
  /** Smallest difference in CPU, as a ratio, that a race of this length finds four times out of five: the median over races. */
  readonly smallestEffect: number
}

/** Races a server against itself: a live test of the method on this machine. */
export async function selfCheck(
  subject: Subject,
  { tries, atLeast, metric, onTry, ...options }: SelfCheckOptions,
): Promise<SelfCheck> {
  const judgements: Judgement[] = []
  const effects: number[] = []
  for (let number = 0; number < tries; number++) {
    const seed = options.seed === undefined ? {} : { seed: options.seed + number }
    const match = race({ first: subject, second: subject }, { ...options, ...seed })
    const judgement = await match.decide('second', { atLeast, ...(metric ? { metric } : {}) })
    judgements.push(judgement)
    const { difference } =
      compare(
        match.result().rounds.filter(({ discarded }) => !discarded),
        'first',
        'second',
        metric ?? 'cpu',
      ) ?? {}
    const alpha = intervalAlpha(judgement.claim)
    if (difference) effects.push(Math.exp(detectable(difference, alpha, 0.8)))
    onTry?.(judgement)
  }
  const wrong = judgements.filter(({ estimates }) => estimates.some(({ low, high }) => low > 1 || high < 1)).length
  return {
    tries,
    held: judgements.filter(({ verdict }) => verdict === 'holds').length,
    broken: judgements.filter(({ verdict }) => verdict === 'broken').length,
    wrong,
    falsePositiveRate: wrong / tries,
    isSuspect: wrong > 0 && chanceOfAtLeast(wrong, tries, judgements[0]!.claim.alpha) < 0.01,
    smallestEffect: effects.length > 0 ? median(effects) : Number.NaN,
  }
}
