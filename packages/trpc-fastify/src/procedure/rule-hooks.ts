// Runs the hooks of rules and applies their body limits. All procedures of a router share one Fastify route, so each hook of
// a rule is a hook of that route, which first checks whether the rule applies. It reads the path as liberally as tRPC does,
// so that no spelling of a path avoids a rule.

import {
  errorCodes,
  type FastifyInstance,
  type FastifyReply,
  type FastifyRequest,
  type RouteShorthandOptions,
} from 'fastify'
import { RULE_HOOKS } from '../options/types.ts'
import { matches, type ProcedureRules } from './rules.ts'

type Done = (error?: Error | null, payload?: unknown) => void
/** Any of {@link RULE_HOOKS}. `onSend` hooks get the payload before `done`. */
type Hook = (this: FastifyInstance, request: FastifyRequest, reply: FastifyReply, ...rest: unknown[]) => unknown
type Applies = (request: FastifyRequest) => boolean

/** Options of the route that all procedures share. */
export interface RuleHooks {
  readonly options: RouteShorthandOptions
  /** Returns the maximum size of a body in bytes, or undefined without a rule. */
  readonly bodyLimitOf: (request: FastifyRequest) => number | undefined
}

/** Returns the options of the route for the rules of its procedures. */
export function ruleHooks(app: FastifyInstance, rules: ProcedureRules, pathSeparator: string): RuleHooks {
  if (rules.all.length === 0) return { options: {}, bodyLimitOf: () => undefined }
  const known = new WeakMap<FastifyRequest, readonly string[]>()
  const pathsOf = (request: FastifyRequest): readonly string[] => {
    const found = known.get(request) ?? calledPaths(request, rules, pathSeparator)
    known.set(request, found)
    return found
  }
  const hooks = Object.fromEntries(
    RULE_HOOKS.map((name) => [
      name,
      rules.all.flatMap(([pattern, rule]) =>
        [(rule[name] ?? []) as Hook | Hook[]]
          .flat()
          .map((hook) => runIf((request) => pathsOf(request).some((path) => matches(pattern, path)), hook)),
      ),
    ]),
  )
  if (!rules.some('bodyLimit')) return { options: hooks, bodyLimitOf: () => undefined }

  const standard = app.initialConfig.bodyLimit!
  const bodyLimitOf = (request: FastifyRequest): number | undefined => {
    const limits = pathsOf(request).map((path) => rules.of(path).bodyLimit)
    return limits.every((limit) => limit === undefined)
      ? undefined
      : Math.min(...limits.map((limit) => limit ?? standard))
  }
  const limits = rules.all.map(([, { bodyLimit }]) => bodyLimit ?? standard)
  const options = {
    ...hooks,
    bodyLimit: Math.max(standard, ...limits),
    preParsing(request: FastifyRequest, reply: FastifyReply, payload: unknown, done: Done) {
      const length = Number(request.headers['content-length'] ?? 0)
      done(length > (bodyLimitOf(request) ?? standardOf(request, standard)) ? tooLarge(reply) : null, payload)
    },
    // The length of a chunked body is known only now.
    preValidation: [
      (request: FastifyRequest, reply: FastifyReply, done: Done) => {
        const { body } = request
        const length = typeof body === 'string' ? Buffer.byteLength(body) : 0
        done(length > (bodyLimitOf(request) ?? standard) ? tooLarge(reply) : null)
      },
      ...(hooks['preValidation'] as Hook[]),
    ],
  }
  return { options: options as RouteShorthandOptions, bodyLimitOf }
}

/** Fastify limits bodies that it parses. tRPC limits uploads. */
function standardOf({ headers }: FastifyRequest, standard: number): number {
  return headers['content-type']?.includes('json') ? standard : Number.POSITIVE_INFINITY
}

/** Closes the connection as Fastify does, because the rest of the body is not read. */
function tooLarge(reply: FastifyReply): Error {
  reply.header('connection', 'close')
  return new errorCodes.FST_ERR_CTP_BODY_TOO_LARGE()
}

/** Skips a hook for other procedures. Fastify passes `done` to both kinds of hooks, and awaits promises that they return. */
function runIf(applies: Applies, hook: Hook): Hook {
  return function (request, reply, ...rest) {
    if (applies(request)) return hook.call(this, request, reply, ...rest)
    const [payload] = rest
    const done = rest.at(-1) as Done
    return rest.length > 1 ? done(null, payload) : done()
  }
}

/** Returns the paths of all procedures that a request may call. */
function calledPaths(request: FastifyRequest, rules: ProcedureRules, pathSeparator: string): readonly string[] {
  const { path: encoded } = request.params as { path: string }
  const path = decode(encoded).split(pathSeparator).join('.')
  const paths = path.split(',')
  // A procedure may have a comma in its name.
  const isOne = rules.all.some(([pattern]) => pattern.includes(',') && matches(pattern, path))
  return isOne ? [path, ...paths] : paths
}

/** tRPC decodes the path once more after Fastify. A malformed path calls no procedure. */
function decode(path: string): string {
  try {
    return decodeURIComponent(path)
  } catch {
    return path
  }
}
