// Prepares an endpoint: parses its templates, and finds out which call waits for which.

import type { PlannedCall } from '../call/planned-call.ts'
import { HedgeDelay } from '../call/hedge-delay.ts'
import { JsonBodyReader } from '../call/json-body.ts'
import { mappingOf } from '../call/mapping.ts'
import type { CompileSchema } from '../call/schema-validator.ts'
import { Shadow } from '../call/shadow.ts'
import { isIdempotent } from '../http/methods.ts'
import type { Instrumentation } from '../observability/observers.ts'
import { invalidOptionError } from '../options/invalid-option.ts'
import type { ResolvedCall, ResolvedEndpoint } from '../options/resolved.ts'
import { parseConditions } from '../request/condition.ts'
import { assertForwardedQuery } from '../request/forwarded-query.ts'
import { parseList } from '../request/item-list.ts'
import { assertParams, parseTemplate } from '../request/path-template.ts'
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
  compileSchema: CompileSchema | undefined,
): PlannedEndpoint {
  const names = Object.keys(calls)
  const inputs = names.map((name) => inputsOf(calls[name]!, path, `${where}.calls.${name}`))
  const needs = inputs.map(({ path: template, items }, index) => {
    const listed = items?.placeholder.source === 'calls' ? items.placeholder.keys.slice(0, 1) : []
    return indicesOf([...template.calls, ...listed], names, `${where}.calls.${names[index]!}.path`)
  })
  const dependencies = inputs.map(({ condition }, index) => {
    const tested = indicesOf(condition?.calls ?? [], names, `${where}.calls.${names[index]!}.when`)
    return [...new Set([...needs[index]!, ...tested])]
  })
  rejectCycle(names, dependencies, where)
  const planned = names.map((name, index) => ({
    ...planCall(calls[name]!, upstreams, compose === 'merge', `${where}.calls.${name}`, compileSchema),
    name,
    ...inputs[index]!,
    needs: needs[index]!,
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

/** What a call needs of the request and of other calls: its list, its condition and its path. */
function inputsOf(
  { path, allowEncodedSlash, forwardQuery, forEach, when }: ResolvedCall,
  url: string,
  where: string,
): Pick<PlannedCall, 'path' | 'items' | 'condition'> {
  const items =
    forEach && parseList(forEach, rejecting(`${where}.forEach`, 'a list of the request or a call', forEach.items))
  const condition =
    when === undefined
      ? undefined
      : parseConditions(when, rejecting(`${where}.when`, 'conditions on the request or calls', when))
  const template = parseTemplate(path, `${where}.path`, { allowEncodedSlash, list: items?.placeholder })
  assertParams(template, url, `${where}.path`)
  assertForwardedQuery(path, forwardQuery, where)
  if (items && !template.sources.includes('item'))
    throw invalidOptionError(`${where}.path`, 'a path with {item} or {item.name}', path)
  return { path: template, items, condition }
}

function rejecting(where: string, expected: string, got: unknown): (problem: string) => never {
  return (problem) => {
    throw invalidOptionError(where, `${expected} (${problem})`, got)
  }
}

/** Indices of the calls of these names. */
function indicesOf(calls: readonly string[], names: readonly string[], where: string): readonly number[] {
  return [...new Set(calls)].map((name) => {
    if (names.includes(name)) return names.indexOf(name)
    throw invalidOptionError(where, `values of the calls ${names.join(', ')}`, `{calls.${name}}`)
  })
}

function planCall(
  options: ResolvedCall,
  upstreams: ReadonlyMap<string, Upstream>,
  isMerged: boolean,
  where: string,
  compileSchema: CompileSchema | undefined,
): Omit<PlannedCall, 'name' | 'path' | 'items' | 'condition' | 'shadow' | 'needs' | 'waitsFor' | 'dependents'> {
  const { method, headers, forwardHeaders, forwardQuery, forwardBody, optional, timeout, maxDepth, hedge } = options
  const { validate, schema } = options
  const upstream = upstreams.get(options.upstream)!
  return {
    upstream,
    method,
    isIdempotent: isIdempotent(method),
    headers: planHeaders(headers, {
      defaults: { accept: 'application/json' },
      forwarded: forwardHeaders,
      isCached: upstream.cache !== undefined,
      where: `${where}.headers`,
    }),
    forwardQuery,
    forwardsBody: forwardBody,
    isOptional: optional,
    timeout,
    retries: options.retries,
    hedge: hedge === false ? undefined : new HedgeDelay(hedge),
    forwardStatuses: options.forwardStatuses,
    reader: new JsonBodyReader({
      maxDepth,
      mapping: mappingOf(options),
      mustBeObject: isMerged,
      validate: validate ? compileSchema!(schema!, `${where}.schema`) : undefined,
    }),
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
  // Conditional calls, and those for each item, may not be made.
  const isCertain = ({ waitsFor, condition, items }: PlannedCall): boolean => waitsFor === 0 && !condition && !items
  const required = calls.filter((call) => !call.isOptional && isCertain(call) && isSent(call))
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
