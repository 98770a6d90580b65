import {
  demand,
  optional,
  onlyKeys,
  isRecord,
  isSignal,
  isPositive,
  isMilliseconds,
  isAlpha,
  isOneOf,
} from './check.ts'
import { maxLooks } from './looks.ts'
import type { Claim, ResolvedRace } from './resolved.ts'
import { type ClaimOptions, METRICS } from './types.ts'

const CLAIM_KEYS = ['atLeast', 'contender', 'case', 'metric', 'alpha', 'budget', 'signal']

export function resolveClaim(race: ResolvedRace, over: string, options: ClaimOptions): Claim {
  const names = race.subjects.map(({ name }) => name)
  const cases = race.cases.map(({ name }) => name)
  demand(isRecord(options), 'claim', 'an object with `atLeast`', options)
  onlyKeys('claim', options, CLAIM_KEYS)
  demand(isPositive(options.atLeast), 'atLeast', 'a finite number > 0', options.atLeast)
  const contender =
    optional(options.contender, 'contender', isOneOf(names), `one of ${names.join(', ')}`) ??
    names.find((name) => name !== over)!
  demand(
    names.includes(over) && over !== contender,
    'over',
    `another subject than ${contender}: one of ${names.join(', ')}`,
    over,
  )
  const metric = optional(options.metric, 'metric', isOneOf(METRICS), `one of ${METRICS.join(', ')}`)
  return {
    contender,
    over,
    atLeast: options.atLeast,
    case: optional(options.case, 'case', isOneOf(cases), `one of ${cases.join(', ')}`) ?? cases[0]!,
    metrics: metric ? [metric] : ['cpu', 'throughput'],
    alpha: optional(options.alpha, 'alpha', isAlpha, 'a number above 0 and at most 0.2') ?? race.alpha,
    looks: maxLooks(race.stages),
    budget: optional(options.budget, 'budget', isMilliseconds(1), 'whole milliseconds >= 1') ?? race.budget,
  }
}

/** The signal that may end what is under way, or one that never aborts. */
export function resolveSignal(options: { signal?: AbortSignal }): AbortSignal {
  demand(isRecord(options), 'options', 'an object', options)
  return optional(options.signal, 'signal', isSignal, 'an AbortSignal') ?? new AbortController().signal
}
