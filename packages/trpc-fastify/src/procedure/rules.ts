// What holds for some procedures only. A rule names them by path, and a batch has to keep the rules of
// all procedures that it calls: nobody gets around a rule by what else is in the request.

import type { FastifyRequest, RouteShorthandOptions } from 'fastify'
import { InvalidOptionError } from '../errors.ts'
import type { RouterInternals } from './trpc-internals.ts'
import type { SerializerOption } from './serializer.ts'

/** What a limiter says of a request: the result of `app.createRateLimit()` of `@fastify/rate-limit`. */
export interface RateLimitResult {
  /** The client is on the list of those that are not limited. */
  readonly isAllowed: boolean
  readonly isExceeded?: boolean
  readonly isBanned?: boolean
  /** Seconds until the client may call again. */
  readonly ttlInSeconds?: number
}

/** What holds for the procedures at a path, or below it. */
export interface ProcedureRule {
  /** Fastify hooks: each runs once for a request that calls such a procedure, before the body is read. */
  onRequest?: RouteShorthandOptions['onRequest']
  /** The same, when the body was read. */
  preValidation?: RouteShorthandOptions['preValidation']
  /** The same, before the context is created. */
  preHandler?: RouteShorthandOptions['preHandler']
  /** The same, before the answer is sent. */
  onSend?: RouteShorthandOptions['onSend']
  /** The same, when the answer was sent. */
  onResponse?: RouteShorthandOptions['onResponse']
  /** The most bytes that the body of a request may have; the smallest limit of a batch counts. */
  bodyLimit?: number
  /** Milliseconds after which a call fails with `TIMEOUT` and its `signal` aborts; not for subscriptions. */
  timeout?: number
  /** Asked before each call, such as `app.createRateLimit({ max: 5, timeWindow: '1 minute' })`; refuses with `TOO_MANY_REQUESTS`. */
  rateLimit?: (request: FastifyRequest) => Promise<RateLimitResult>
  /** Writes results as JSON: `'output'` for what fits the procedure's output schema, a JSON schema, or a function. */
  serializer?: SerializerOption
}

/** The hooks that rules can have, by the names of Fastify. */
export const HOOKS = ['onRequest', 'preValidation', 'preHandler', 'onSend', 'onResponse'] as const

/** The rules of a router. */
export class ProcedureRules {
  /** From the most general one to the most specific. */
  readonly all: readonly (readonly [pattern: string, rule: ProcedureRule])[]

  /** @throws TRPC_FASTIFY_INVALID_OPTION for a rule without a procedure: a misspelt path would leave one without its limits */
  constructor(procedures: Readonly<Record<string, ProcedureRule>>, { paths, lazyPaths }: RouterInternals) {
    for (const pattern of Object.keys(procedures)) {
      const isLazy = lazyPaths.some((path) => `${pattern}.`.startsWith(`${path}.`) || matches(pattern, path))
      if (isLazy || paths.some((path) => matches(pattern, path))) continue
      throw new InvalidOptionError(`Expected \`procedures\` to be for procedures of the router, got \`${pattern}\``)
    }
    this.all = Object.entries(procedures).toSorted(([one], [other]) => specificity(one) - specificity(other))
  }

  /** What holds for a procedure: of several rules that set the same option, the most specific one counts. */
  of(path: string): ProcedureRule {
    const matching = this.all.filter(([pattern]) => matches(pattern, path))
    return Object.assign({}, ...matching.map(([, rule]) => rule)) as ProcedureRule
  }

  /** Whether any rule has such an option. */
  some(option: keyof ProcedureRule): boolean {
    return this.all.some(([, rule]) => rule[option] !== undefined)
  }
}

/** Whether a rule is for a procedure: `post.list` for one, `post.*` for all below, `*` for all. */
export function matches(pattern: string, path: string): boolean {
  if (pattern === '*' || pattern === path) return true
  return pattern.endsWith('.*') && path.startsWith(pattern.slice(0, -1))
}

function specificity(pattern: string): number {
  return pattern.endsWith('*') ? pattern.length : Number.POSITIVE_INFINITY
}
