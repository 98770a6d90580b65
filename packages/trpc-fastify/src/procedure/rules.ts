// Rules for some procedures, by path. A batch is bound by the rules of all its procedures, so that no request can
// avoid a rule by its other calls.

import { invalidOption } from 'checked-options'
import { InvalidOptionError } from '../errors.ts'
import type { ProcedureRule } from '../options/types.ts'
import type { RouterInternals } from './trpc-internals.ts'

/** Hooks that may reject a call. */
const GUARDS = ['onRequest', 'preValidation', 'preHandler'] as const

/** The rules of a router. */
export class ProcedureRules {
  /** From the most general to the most specific. */
  readonly all: readonly (readonly [pattern: string, rule: ProcedureRule])[]

  /** @throws TRPC_FASTIFY_INVALID_OPTION for a rule without a procedure, because a typo would leave a procedure without limits */
  constructor(procedures: Readonly<Record<string, ProcedureRule>>, { paths, lazyPaths }: RouterInternals) {
    for (const pattern of Object.keys(procedures)) {
      const isLazy = lazyPaths.some((path) => `${pattern}.`.startsWith(`${path}.`) || matches(pattern, path))
      if (isLazy || paths.some((path) => matches(pattern, path))) continue
      throw new InvalidOptionError(invalidOption('procedures', 'paths of procedures of the router', pattern))
    }
    this.all = Object.entries(procedures).toSorted(([one], [other]) => specificity(one) - specificity(other))
  }

  /** Returns all options for a procedure. If several rules set one, the most specific rule wins. */
  of(path: string): ProcedureRule {
    const matching = this.all.filter(([pattern]) => matches(pattern, path))
    return Object.assign({}, ...matching.map(([, rule]) => rule)) as ProcedureRule
  }

  /** Patterns whose procedures are not served over WebSockets, because these would not run the hooks of the rule. */
  get guarded(): readonly string[] {
    return this.all.filter(([, rule]) => rule.useWSS === undefined && isGuarded(rule)).map(([pattern]) => pattern)
  }

  /** Whether a procedure is served over WebSockets. Of the rules that decide it, the most specific one wins. */
  useWSS(path: string): boolean {
    let isServed = true
    for (const [pattern, rule] of this.all) {
      if (matches(pattern, path)) isServed = rule.useWSS ?? (isServed && !isGuarded(rule))
    }
    return isServed
  }

  /** Whether any rule has an option. */
  some(option: keyof ProcedureRule): boolean {
    return this.all.some(([, rule]) => rule[option] !== undefined)
  }
}

/** Whether a rule is for a procedure: `post.list` is for one, `post.*` for all below, `*` for all. */
export function matches(pattern: string, path: string): boolean {
  if (pattern === '*' || pattern === path) return true
  return pattern.endsWith('.*') && path.startsWith(pattern.slice(0, -1))
}

function isGuarded(rule: ProcedureRule): boolean {
  return GUARDS.some((name) => [rule[name] ?? []].flat().length > 0)
}

function specificity(pattern: string): number {
  return pattern.endsWith('*') ? pattern.length : Number.POSITIVE_INFINITY
}
