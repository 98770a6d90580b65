// Checks the options of a gateway, and returns them with their defaults.

import { checkOptions, isRecord, type Schema } from 'checked-options'
import { InvalidOptionError } from '../errors.ts'
import { isIdempotent } from '../http/methods.ts'
import { invalidOptionError } from './invalid-option.ts'
import type {
  ResolvedCall,
  ResolvedEndpoint,
  ResolvedGateway,
  ResolvedPassThroughEndpoint,
  ResolvedStatus,
  ResolvedUpstream,
} from './resolved.ts'
import { cacheSchema, type CheckedGateway, statusSchema, upstreamSchema } from './schema.ts'

/** @throws AGGREGATOR_GATEWAY_INVALID_OPTION */
export function resolveOptions(schema: Schema<unknown, CheckedGateway>, options: unknown): ResolvedGateway {
  const checked = check(schema, options)
  const { upstreams, endpoints, status, authentication } = checked
  if (!isSecurity(authentication?.security)) {
    throw invalidOptionError('authentication.security', 'a list such as [{ jwt: [] }]', authentication?.security)
  }
  const resolved: ResolvedGateway = {
    ...checked,
    upstreams: Object.fromEntries(
      Object.entries(upstreams).map(([name, upstream]) => [name, resolveUpstream(upstream, `upstreams.${name}`)]),
    ),
    status: resolveStatus(status),
  }
  for (const [index, endpoint] of endpoints.entries()) {
    checkEndpoint(endpoint, `endpoints[${index}]`, Object.keys(upstreams))
    checkAuthentication(endpoint, `endpoints[${index}]`, authentication !== undefined)
  }
  return resolved
}

function check<TOutput>(schema: Schema<unknown, TOutput>, options: unknown): TOutput {
  return checkOptions(schema, options, (message) => new InvalidOptionError(message))
}

/** Whether a value is a list of OpenAPI's security requirements, or left out. */
function isSecurity(value: unknown): boolean {
  const isRequirement = (one: unknown): boolean => isRecord(one) && Object.values(one).every(Array.isArray)
  return value === undefined || (Array.isArray(value) && value.every(isRequirement))
}

function resolveUpstream(given: CheckedGateway['upstreams'][string], where: string): ResolvedUpstream {
  const upstream = typeof given === 'string' ? check(upstreamSchema, { origin: given }) : given
  const { cache, origin } = upstream
  if (origin.length === 0) throw invalidOptionError(`${where}.origin`, 'at least one origin', origin)
  if (typeof cache === 'object' && cache.store) {
    const unused = (['maxBytes', 'maxEntries', 'maxEntryBytes'] as const).find((name) => cache[name] !== undefined)
    if (unused) throw invalidOptionError(`${where}.cache.${unused}`, 'no limit of memory beside a store', cache[unused])
  }
  return { ...upstream, cache: cache === true ? check(cacheSchema, {}) : cache }
}

function resolveStatus(status: boolean | ResolvedStatus): false | ResolvedStatus {
  return status === true ? check(statusSchema, {}) : status
}

function checkEndpoint(
  endpoint: ResolvedEndpoint | ResolvedPassThroughEndpoint,
  where: string,
  upstreams: readonly string[],
): void {
  if (endpoint.passThrough) return checkPassThrough(endpoint, `${where}.passThrough`, upstreams)
  const calls = Object.entries(endpoint.calls)
  if (calls.length === 0) throw invalidOptionError(`${where}.calls`, 'at least one call', endpoint.calls)
  for (const [name, call] of calls) {
    const at = `${where}.calls.${name}`
    if (!/^[\w-]+$/.test(name)) throw invalidOptionError(at, 'a name of letters, digits, "-" and "_"', name)
    checkUpstream(call.upstream, `${at}.upstream`, upstreams)
    checkMethod(call, `${at}.method`)
    if (call.forEach && endpoint.compose === 'merge') {
      throw invalidOptionError(`${at}.forEach`, 'no list in an endpoint with compose "merge"', call.forEach.items)
    }
    if (call.validate && !call.schema)
      throw invalidOptionError(`${at}.schema`, 'a JSON Schema for validate', call.schema)
    if (call.shadow) checkUpstream(call.shadow.upstream, `${at}.shadow.upstream`, upstreams)
  }
}

/** Without an authenticator, there are no claims, and nobody is verified. */
function checkAuthentication(
  endpoint: ResolvedEndpoint | ResolvedPassThroughEndpoint,
  where: string,
  hasAuthenticator: boolean,
): void {
  const { authentication = hasAuthenticator } = endpoint
  if (authentication !== false && !hasAuthenticator) {
    throw invalidOptionError(`${where}.authentication`, 'authentication of the gateway, too', authentication)
  }
  if (authentication !== false) return
  const all = endpoint.passThrough
    ? { passThrough: endpoint.passThrough }
    : Object.fromEntries(Object.entries(endpoint.calls).map(([name, call]) => [`calls.${name}`, call]))
  for (const [name, one] of Object.entries(all)) {
    const { path, headers, ...others } = one
    for (const [option, value] of Object.entries({ path, headers, ...pick(others, ['forEach', 'when']) })) {
      const claim = /\{claims[^{}]*\}/.exec(JSON.stringify(value) ?? '')?.[0]
      if (claim === undefined) continue
      throw invalidOptionError(`${where}.${name}.${option}`, 'an endpoint with authentication for claims', claim)
    }
  }
}

function pick(options: object, names: readonly string[]): object {
  return Object.fromEntries(Object.entries(options).filter(([name]) => names.includes(name)))
}

/** Some options exclude some methods. */
function checkMethod({ method, retries, forwardBody, hedge, shadow, forEach }: ResolvedCall, where: string): void {
  if (retries > 0 && !isIdempotent(method)) {
    throw invalidOptionError(where, 'GET, PUT or DELETE for a call with retries', method)
  }
  if (forwardBody && method === 'GET') throw invalidOptionError(where, 'a method with a body for forwardBody', method)
  if (hedge !== false && method !== 'GET') throw invalidOptionError(where, 'GET for a hedged call', method)
  if (forEach && method !== 'GET') throw invalidOptionError(where, 'GET for a call with forEach', method)
  if (shadow && method !== 'GET') throw invalidOptionError(where, 'GET for a call with a shadow', method)
}

function checkPassThrough(
  { method, passThrough }: ResolvedPassThroughEndpoint,
  where: string,
  upstreams: readonly string[],
): void {
  const { upstream, forwardBody } = passThrough
  checkUpstream(upstream, `${where}.upstream`, upstreams)
  const bodyless = [method, passThrough.method ?? method].find((one) => one === 'GET' || one === 'HEAD')
  if (forwardBody && bodyless) throw invalidOptionError(`${where}.forwardBody`, `false for ${bodyless}`, forwardBody)
}

function checkUpstream(upstream: string, where: string, upstreams: readonly string[]): void {
  if (!upstreams.includes(upstream)) throw invalidOptionError(where, `an upstream of ${upstreams.join(', ')}`, upstream)
}
