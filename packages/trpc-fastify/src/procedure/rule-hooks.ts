// Runs the hooks of rules, and keeps their body limits. All procedures of a router share one Fastify route,
// so each hook of each rule is a hook of that route which first looks whether it is meant. What a request
// calls is read from its path as generously as tRPC could: no spelling of a path is without its rules.

import {
  errorCodes,
  type FastifyInstance,
  type FastifyReply,
  type FastifyRequest,
  type RouteShorthandOptions,
} from 'fastify'
import { HOOKS } from '../options/types.ts'
import { matches, type ProcedureRules } from './rules.ts'

type Done = (error?: Error | null, payload?: unknown) => void
/** Any of {@link HOOKS}: those of the answer get its payload before `done`. */
type Hook = (this: FastifyInstance, request: FastifyRequest, reply: FastifyReply, ...rest: unknown[]) => unknown
type Matching = (request: FastifyRequest) => boolean

/** Options of the route that all procedures share. */
export interface RuleHooks {
  readonly options: RouteShorthandOptions
  /** The most bytes that the body of a request may have; nothing when no rule says so. */
  readonly bodyLimitOf: (request: FastifyRequest) => number | undefined
}

/** Makes the options of the route from the rules of its procedures. */
export function ruleHooks(app: FastifyInstance, rules: ProcedureRules, pathSeparator: string): RuleHooks {
  if (rules.all.length === 0) return { options: {}, bodyLimitOf: () => undefined }
  const known = new WeakMap<FastifyRequest, readonly string[]>()
  const pathsOf = (request: FastifyRequest): readonly string[] => {
    const found = known.get(request) ?? calledPaths(request, rules, pathSeparator)
    known.set(request, found)
    return found
  }
  const hooks = Object.fromEntries(
    HOOKS.map((name) => [
      name,
      rules.all.flatMap(([pattern, rule]) =>
        [(rule[name] ?? []) as Hook | Hook[]]
          .flat()
          .map((hook) => where((request) => pathsOf(request).some((path) => matches(pattern, path)), hook)),
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
    // A body that came in chunks has no length before it is there.
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

/** Fastify's own limit is for what it reads itself; uploads are tRPC's to limit. */
function standardOf({ headers }: FastifyRequest, standard: number): number {
  return headers['content-type']?.includes('json') ? standard : Number.POSITIVE_INFINITY
}

/** As Fastify does it: what is left of the body is not read. */
function tooLarge(reply: FastifyReply): Error {
  reply.header('connection', 'close')
  return new errorCodes.FST_ERR_CTP_BODY_TOO_LARGE()
}

/** A hook that goes on at once when it is not meant. Fastify passes `done` to hooks of both kinds, and awaits what they give. */
function where(isMeant: Matching, hook: Hook): Hook {
  return function (request, reply, ...rest) {
    if (isMeant(request)) return hook.call(this, request, reply, ...rest)
    const [payload] = rest
    const done = rest.at(-1) as Done
    return rest.length > 1 ? done(null, payload) : done()
  }
}

/** Paths of all procedures that a request may call. */
function calledPaths(request: FastifyRequest, rules: ProcedureRules, pathSeparator: string): readonly string[] {
  const { path: encoded } = request.params as { path: string }
  const path = decode(encoded).split(pathSeparator).join('.')
  const paths = path.split(',')
  // Not a batch, where procedures have commas in their names.
  const isOne = rules.all.some(([pattern]) => pattern.includes(',') && matches(pattern, path))
  return isOne ? [path, ...paths] : paths
}

/** tRPC decodes once more what Fastify has decoded; what is malformed then calls nothing. */
function decode(path: string): string {
  try {
    return decodeURIComponent(path)
  } catch {
    return path
  }
}
