// Prepares an endpoint: parses its templates, and finds out which call waits for which.

import type { PlannedCall } from '../call/planned-call.ts'
import { HedgeDelay } from '../call/hedge-delay.ts'
import { JsonBodyReader } from '../call/json-body.ts'
import { mappingOf } from '../call/mapping.ts'
import { Shadow } from '../call/shadow.ts'
import { isIdempotent } from '../http/methods.ts'
import type { Instrumentation } from '../observability/observers.ts'
import { invalidOptionError } from '../options/invalid-option.ts'
import type { ResolvedCall, ResolvedEndpoint } from '../options/resolved.ts'
import { assertParams, parseTemplate, type PathTemplate } from '../request/path-template.ts'
import { planHeaders } from '../request/request-headers.ts'
import type { Upstream } from '../upstream/upstream.ts'
import { type Compose, composeOf } from './compose.ts'
import type { PlannedEndpoint } from './planned-endpoint.ts'

/** @throws AGGREGATOR_GATEWAY_INVALID_OPTION for templates that cannot be filled in, and for calls that wait for each other */
export function planEndpoint(
  { path, timeout, calls, compose, serverTiming, allowAllFailed }: ResolvedEndpoint,
  where: string,
  upstreams: ReadonlyMap<string, Upstream>,
  instrumentation: Instrumentation | undefined,
): PlannedEndpoint {
  const names = Object.keys(calls)
  const templates = names.map((name) => templateOf(calls[name]!, path, `${where}.calls.${name}.path`))
  const dependencies = templates.map((template, index) =>
    dependenciesOf(template, names, `${where}.calls.${names[index]!}.path`),
  )
  rejectCycle(names, dependencies, where)
  const planned = names.map((name, index) => ({
    ...planCall(calls[name]!, compose === 'merge', `${where}.calls.${name}`),
    name,
    upstream: upstreams.get(calls[name]!.upstream)!,
    path: templates[index]!,
    shadow: shadowOf(calls[name]!, upstreams),
    waitsFor: dependencies[index]!.length,
    dependents: dependencies.flatMap((others, dependent) => (others.includes(index) ? dependent : [])),
  }))
  return {
    calls: planned,
    admission: admissionOf(planned, where),
    indexOf: new Map(names.map((name, index) => [name, index])),
    timeout,
    ...composition(compose, names),
    hasOptional: Object.values(calls).some(({ optional }) => optional),
    needsAny: !allowAllFailed && planned.every(({ isOptional }) => isOptional),
    hasServerTiming: serverTiming,
    instrumentation,
  }
}

function templateOf({ path, allowEncodedSlash }: ResolvedCall, url: string, where: string): PathTemplate {
  const template = parseTemplate(path, where, { allowEncodedSlash })
  assertParams(template, url, where)
  return template
}

/** Indices of the calls that a template needs. */
function dependenciesOf(template: PathTemplate, names: readonly string[], where: string): readonly number[] {
  return template.calls.map((name) => {
    if (names.includes(name)) return names.indexOf(name)
    throw invalidOptionError(where, `values of the calls ${names.join(', ')}`, `{calls.${name}}`)
  })
}

function planCall(
  options: ResolvedCall,
  isMerged: boolean,
  where: string,
): Omit<PlannedCall, 'name' | 'upstream' | 'path' | 'shadow' | 'waitsFor' | 'dependents'> {
  const { method, headers, forwardHeaders, forwardQuery, forwardBody, optional, timeout, maxDepth, hedge } = options
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
    retries: options.retries,
    hedge: hedge === false ? undefined : new HedgeDelay(hedge),
    forwardStatuses: options.forwardStatuses,
    reader: new JsonBodyReader({ maxDepth, mapping: mappingOf(options), mustBeObject: isMerged }),
  }
}

function shadowOf({ shadow }: ResolvedCall, upstreams: ReadonlyMap<string, Upstream>): Shadow | undefined {
  return shadow && new Shadow(upstreams.get(shadow.upstream)!, shadow)
}

function composition(
  compose: ResolvedEndpoint['compose'],
  names: readonly string[],
): { compose: Compose | undefined; composeValues: PlannedEndpoint['composeValues'] } {
  if (typeof compose === 'function') return { compose: undefined, composeValues: compose }
  return { compose: composeOf(compose, names), composeValues: undefined }
}

function admissionOf(calls: readonly PlannedCall[], where: string): PlannedEndpoint['admission'] {
  // A cached response needs no place in the queue.
  const isSent = ({ upstream, method }: PlannedCall): boolean => method !== 'GET' || upstream.cache === undefined
  const required = calls.filter((call) => !call.isOptional && call.waitsFor === 0 && isSent(call))
  const admission = [...Map.groupBy(required, ({ upstream }) => upstream).values()].map((same) => ({
    call: same[0]!,
    calls: same.length,
  }))
  for (const { call, calls: count } of admission) assertCapacity(call.upstream, count, where)
  return admission
}

/** An endpoint that starts more calls than an upstream can queue would always respond 503. */
function assertCapacity({ name, capacity }: Upstream, calls: number, where: string): void {
  if (calls <= capacity) return
  const expected = `at most ${capacity} required calls to "${name}", its maxConnections and maxQueue`
  throw invalidOptionError(`${where}.calls`, expected, calls)
}

/** Calls that wait for each other would wait forever. */
function rejectCycle(names: readonly string[], dependencies: readonly (readonly number[])[], where: string): void {
  const visit = (index: number, path: readonly number[]): void => {
    if (path.includes(index)) {
      const cycle = [...path.slice(path.indexOf(index)), index].map((step) => names[step]).join(' -> ')
      throw invalidOptionError(`${where}.calls`, 'no circular dependency', cycle)
    }
    for (const other of dependencies[index]!) visit(other, [...path, index])
  }
  for (const index of names.keys()) visit(index, [])
}
