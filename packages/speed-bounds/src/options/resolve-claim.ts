import { assertOption, check } from './check.ts'
import type { Claim, ResolvedRace } from './resolved.ts'
import { claimSchema, runSchema } from './schema.ts'
import type { ClaimOptions } from './types.ts'

/** A claim about the subjects of a race. Errors put `prefix` before the names of its options. */
export function resolveClaim(race: ResolvedRace, over: string, options: ClaimOptions, prefix = ''): Claim {
  const claim = check(claimSchema, options)
  const names = race.subjects.map(({ name }) => name)
  const cases = race.cases.map(({ name }) => name)
  const contender = claim.contender ?? names.find((name) => name !== over)!
  assertOption(names.includes(contender), `${prefix}contender`, `one of ${names.join(', ')}`, contender)
  const others = names.filter((name) => name !== contender)
  assertOption(others.includes(over), `${prefix}over`, `one of ${others.join(', ')}`, over)
  const name = claim.case ?? cases[0]!
  assertOption(cases.includes(name), `${prefix}case`, `one of ${cases.join(', ')}`, name)
  return {
    contender,
    over,
    atLeast: claim.atLeast,
    case: name,
    metrics: claim.metric ? [claim.metric] : ['cpu', 'throughput'],
    alpha: claim.alpha ?? race.alpha,
    budget: claim.budget ?? race.budget,
  }
}

/** The signal that can end the current work, or one that never aborts. */
export function resolveSignal(options: Pick<ClaimOptions, 'signal'>): AbortSignal {
  return check(runSchema, options).signal ?? new AbortController().signal
}
