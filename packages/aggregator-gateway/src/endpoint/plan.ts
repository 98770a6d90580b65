// Makes endpoints ready to answer: templates are read, and it is found out which call waits for which.

import type { PlannedEndpoint } from './endpoint-request.ts'
import type { PlannedCall } from '../call/call.ts'
import { planHeaders } from '../request/request-headers.ts'
import { type Compose, composeOf } from './compose.ts'
import { InvalidOptionError } from '../errors.ts'
import { HedgeDelay } from '../call/hedging.ts'
import { JsonBodyReader } from '../call/json-body.ts'
import { mappingOf } from '../call/mapping.ts'
import type { Observing } from '../observability/observers.ts'
import { type CallOptions, type EndpointOptions, isIdempotent } from '../options/options.ts'
import { Shadow } from '../call/shadow.ts'
import { parseTemplate } from '../request/path-template.ts'
import type { Upstream } from '../upstream/upstream.ts'

/** Hooks of a route that can change what its calls are made of. */
const HOOKS = ['onRequest', 'preParsing', 'preValidation', 'preHandler'] as const

/** @throws GATEWAY_INVALID_OPTION for templates that cannot be filled in, and for calls that wait for each other */
export function planEndpoint(
  { path, timeout = 2000, calls, compose = 'object', serverTiming = false, allowAllFailed = false }: EndpointOptions,
  where: string,
  upstreams: ReadonlyMap<string, Upstream>,
  observing: Observing | undefined,
): PlannedEndpoint {
  const names = Object.keys(calls)
  const templates = names.map((name) => {
    const { path: text, allowEncodedSlash = false } = calls[name]!
    return parseTemplate(text, `${where}.calls.${name}.path`, { allowEncodedSlash })
  })
  const waits = templates.map((template, index) => {
    const at = `${where}.calls.${names[index]!}.path`
    const unknownParam = template.params.find((param) => !paramsOf(path).includes(param))
    if (unknownParam !== undefined) {
      throw new InvalidOptionError(`Expected \`${at}\` to take parameters of ${path}, got {params.${unknownParam}}`)
    }
    return template.calls.map((name) => {
      if (!names.includes(name)) {
        throw new InvalidOptionError(`Expected \`${at}\` to take answers of ${names.join(', ')}, got {calls.${name}}`)
      }
      return names.indexOf(name)
    })
  })
  refuseCycle(names, waits, where)
  const planned = names.map((name, index) => ({
    ...plannedCall(calls[name]!, compose === 'merge', `${where}.calls.${name}`),
    name,
    upstream: upstreams.get(calls[name]!.upstream)!,
    path: templates[index]!,
    shadow: shadowOf(calls[name]!, upstreams),
    waitsFor: waits[index]!.length,
    dependents: waits.flatMap((others, dependent) => (others.includes(index) ? dependent : [])),
  }))
  // What may be kept already needs no room.
  const isMade = ({ upstream, method }: PlannedCall): boolean => method !== 'GET' || upstream.cache === undefined
  const needed = planned.filter((call) => !call.isOptional && call.waitsFor === 0 && isMade(call))
  const needs = [...Map.groupBy(needed, ({ upstream }) => upstream).values()].map((same) => ({
    call: same[0]!,
    calls: same.length,
  }))
  for (const { call, calls: count } of needs) demandCapacity(call.upstream, count, where)
  return {
    calls: planned,
    needs,
    indexOf: new Map(names.map((name, index) => [name, index])),
    timeout,
    ...composition(compose, names),
    hasOptional: Object.values(calls).some(({ optional }) => optional),
    needsAny: !allowAllFailed && planned.every(({ isOptional }) => isOptional),
    hasServerTiming: serverTiming,
    observing,
  }
}

/**
 * Whether clients that ask the same are answered together. What a function makes of a request, nobody can compare.
 *
 * @throws GATEWAY_INVALID_OPTION for an endpoint that is to, and cannot
 */
export function coalesces(
  { method = 'GET', compose, coalesce, calls, route = {} }: EndpointOptions,
  where: string,
  ofGateway: boolean,
): boolean {
  const all = Object.values(calls)
  const obstacle =
    method !== 'GET'
      ? `the method ${method}`
      : typeof compose === 'function'
        ? 'a function that composes'
        : all.some((call) => call.forwardBody || (call.method ?? 'GET') !== 'GET')
          ? 'calls that are more than GET'
          : undefined
  if (coalesce && obstacle) {
    throw new InvalidOptionError(`Expected \`${where}.coalesce\` to be of an endpoint with GET alone, got ${obstacle}`)
  }
  const handsOnCredentials = all.some(({ forwardHeaders = [] }) =>
    forwardHeaders.some((name) => name === 'authorization' || name === 'cookie'),
  )
  // They may answer by who asks, which a URL does not tell.
  const hasHooks = HOOKS.some((name) => route[name] !== undefined)
  return coalesce ?? (ofGateway && !obstacle && !handsOnCredentials && !hasHooks)
}

function plannedCall(
  { method = 'GET', headers = {}, forwardHeaders = [], forwardBody = false, optional = false, ...options }: CallOptions,
  isMerged: boolean,
  where: string,
): Omit<PlannedCall, 'name' | 'upstream' | 'path' | 'shadow' | 'waitsFor' | 'dependents'> {
  const { timeout, maxDepth = 64, retry = 0, hedge = false, propagate = [], forwardQuery = [] } = options
  return {
    method,
    isIdempotent: isIdempotent(method),
    headers: planHeaders(headers, {
      defaults: { accept: 'application/json' },
      forwarded: forwardHeaders,
      where: `${where}.headers`,
    }),
    forwardQuery,
    forwardsBody: forwardBody,
    isOptional: optional,
    timeout,
    retries: retry,
    hedge: hedge === false ? undefined : new HedgeDelay(hedge),
    propagated: propagate,
    reader: new JsonBodyReader({ maxDepth, mapping: mappingOf(options), mustBeObject: isMerged }),
  }
}

function shadowOf({ shadow }: CallOptions, upstreams: ReadonlyMap<string, Upstream>): Shadow | undefined {
  return shadow && new Shadow(upstreams.get(shadow.upstream)!, shadow)
}

function composition(
  compose: NonNullable<EndpointOptions['compose']>,
  names: readonly string[],
): { compose: Compose | undefined; composeValues: PlannedEndpoint['composeValues'] } {
  if (typeof compose === 'function') return { compose: undefined, composeValues: compose }
  return { compose: composeOf(compose, names), composeValues: undefined }
}

/** Names of path parameters, in the syntax of find-my-way. */
export function paramsOf(path: string): string[] {
  const names = [...path.matchAll(/(?<!:):(\w+)/g)].map(([, name]) => name!)
  return path.endsWith('*') ? [...names, '*'] : names
}

/** An endpoint that makes more calls at once than there is room for would always respond 503. */
function demandCapacity({ name, capacity }: Upstream, calls: number, where: string): void {
  if (calls <= capacity) return
  throw new InvalidOptionError(
    `Expected \`${where}.calls\` to need at most ${capacity} calls to ${name} at once (its \`connections\` and \`queue\`), got ${calls}`,
  )
}

/** Calls that wait for each other would wait forever. */
function refuseCycle(names: readonly string[], waits: readonly (readonly number[])[], where: string): void {
  const visit = (index: number, way: readonly number[]): void => {
    if (way.includes(index)) {
      const cycle = [...way.slice(way.indexOf(index)), index].map((step) => names[step]).join(' -> ')
      throw new InvalidOptionError(`Expected \`${where}.calls\` to wait for each other in no circle, got ${cycle}`)
    }
    for (const other of waits[index]!) visit(other, [...way, index])
  }
  for (const index of names.keys()) visit(index, [])
}
