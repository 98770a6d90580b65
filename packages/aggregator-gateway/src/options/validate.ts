// Checks options at creation.

import type { LogLevel } from 'fastify'
import { InvalidOptionError } from '../errors.ts'
import { isEndToEnd } from '../http/header-rules.ts'
import { IDEMPOTENT, isIdempotent, METHODS } from '../http/methods.ts'
import type { CallOptions } from './call-options.ts'
import type { Composition, PassThroughEndpointOptions } from './endpoint-options.ts'
import type { BreakerOptions } from './upstream-options.ts'

const COMPOSITIONS: readonly Composition[] = ['object', 'array', 'merge']

/** What is expected of an option, in words and in code. */
type Check = readonly [expected: string, holds: (value: unknown) => boolean]
type Checks = Readonly<Record<string, Check>>

const aBoolean: Check = ['a boolean', (value) => typeof value === 'boolean']
const aString: Check = ['a string', (value) => typeof value === 'string']
const strings: Check = [
  'an array of strings',
  (value) => Array.isArray(value) && value.every((one) => typeof one === 'string'),
]
const milliseconds: Check = [
  'a number of milliseconds from 1 to 2147483647',
  (value) => typeof value === 'number' && value >= 1 && value <= 2_147_483_647,
]
const aCount: Check = ['a whole number >= 1', (value) => Number.isInteger(value) && (value as number) >= 1]
const aCountOrNone: Check = ['a whole number >= 0', (value) => Number.isInteger(value) && (value as number) >= 0]
const stringsByName: Check = [
  'an object of strings',
  (value) => isRecord(value) && Object.values(value).every((one) => typeof one === 'string'),
]
const headers: Check = [
  'a function, or an object of header values by names',
  (value) => typeof value === 'function' || isRecord(value),
]
const oneOf = (values: readonly string[]): Check => [
  `one of ${values.join(', ')}`,
  (value) => values.includes(value as string),
]

const aPath: Check = ['a path that begins with a slash', (value) => typeof value === 'string' && value.startsWith('/')]
const aRoute: Check = [
  'an object of route options, without method, url and handler',
  (value) => isRecord(value) && ['method', 'url', 'handler'].every((name) => !(name in value)),
]
const aShare: Check = ['a number from 0 to 1', (value) => typeof value === 'number' && value >= 0 && value <= 1]

const forwardable: Check = [
  'an array of header names in lower case, and none that belongs to a connection',
  (value) => Array.isArray(value) && value.every(isForwardable),
]

const BREAKER_CHECKS: Checks = {
  threshold: ['a number between 0 and 1', (value) => typeof value === 'number' && value > 0 && value < 1],
  calls: aCount,
  openFor: milliseconds,
}

const UPSTREAM_CHECKS: Checks = {
  origin: [
    'an origin such as http://users:3000, or an array of them',
    (value) => [value].flat().length > 0 && [value].flat().every(isOrigin),
  ],
  connections: aCount,
  queue: aCountOrNone,
  maxStreams: aCountOrNone,
  connectTimeout: milliseconds,
  connectionTtl: milliseconds,
  lookup: ['a function', (value) => typeof value === 'function'],
  tls: ['an object', isRecord],
  maxResponseSize: aCount,
  breaker: [
    'false, or an object with some of threshold, calls and openFor',
    (value) => value === false || isRecord(value),
  ],
  retryBudget: aShare,
  hedgeBudget: aShare,
  cache: ['a boolean, or an object with options', (value) => typeof value === 'boolean' || isRecord(value)],
}

const CACHE_CHECKS: Checks = {
  store: [
    'an object with `get`, `createWriteStream` and `delete`',
    (value) =>
      ['get', 'createWriteStream', 'delete'].every((name) => isFunction((value as Record<string, unknown>)?.[name])),
  ],
  storeTimeout: milliseconds,
  maxSize: aCount,
  maxCount: aCount,
  maxEntrySize: aCount,
}
/** Those of the store in memory. */
const MEMORY_OPTIONS = ['maxSize', 'maxCount', 'maxEntrySize']

const CALL_CHECKS: Checks = {
  upstream: aString,
  path: aString,
  allowEncodedSlash: aBoolean,
  method: oneOf(METHODS.filter((method) => method !== 'HEAD')),
  headers,
  forwardHeaders: forwardable,
  forwardQuery: strings,
  forwardBody: aBoolean,
  optional: aBoolean,
  timeout: milliseconds,
  retry: aCountOrNone,
  hedge: ['a boolean, or milliseconds', (value) => typeof value === 'boolean' || milliseconds[1](value)],
  propagate: [
    'an array of statuses from 400 to 599',
    (value) => Array.isArray(value) && value.every((one) => Number.isInteger(one) && one >= 400 && one <= 599),
  ],
  maxDepth: aCount,
  schema: ['a JSON Schema', isRecord],
  target: aString,
  unwrap: aBoolean,
  pick: strings,
  omit: strings,
  rename: stringsByName,
  shadow: ['an object with `upstream`', isRecord],
}

const SHADOW_CHECKS: Checks = { upstream: aString, share: aShare, timeout: milliseconds }

const PASS_THROUGH_CHECKS: Checks = {
  upstream: aString,
  path: aString,
  allowEncodedSlash: aBoolean,
  method: oneOf(METHODS),
  headers,
  forwardHeaders: forwardable,
  forwardQuery: strings,
  forwardBody: aBoolean,
  answerHeaders: forwardable,
  maxResponseSize: aCount,
  clientTimeout: milliseconds,
}

const ENDPOINT_CHECKS: Checks = {
  method: oneOf(METHODS),
  path: aPath,
  timeout: milliseconds,
  calls: ['an object of calls by name, at least one', (value) => isRecord(value) && Object.keys(value).length > 0],
  compose: [
    `one of ${COMPOSITIONS.join(', ')}, or a function`,
    (value) => typeof value === 'function' || COMPOSITIONS.includes(value as Composition),
  ],
  coalesce: aBoolean,
  allowAllFailed: aBoolean,
  serverTiming: aBoolean,
  route: aRoute,
}

const OBSERVER_METHODS = ['gatewayOpened', 'gatewayClosed', 'callHeaders', 'callStarted', 'callEnded']
const LOG_LEVELS: readonly LogLevel[] = ['trace', 'debug', 'info', 'warn', 'error', 'fatal', 'silent']

/** Options by which one sees what the gateway does. */
const SEEING_CHECKS: Checks = {
  observers: [
    `an array of objects with some of ${OBSERVER_METHODS.join(', ')}`,
    (value) => Array.isArray(value) && value.every(isObserver),
  ],
  callLogLevel: oneOf(LOG_LEVELS),
  status: [
    'a boolean, or an object with some of path and route',
    (value) => typeof value === 'boolean' || isRecord(value),
  ],
}

const STATUS_CHECKS: Checks = {
  path: aPath,
  route: aRoute,
}

/** In place of `calls` and what is about them. */
const PASS_THROUGH_ENDPOINT_CHECKS: Checks = {
  ...Object.fromEntries(
    Object.entries(ENDPOINT_CHECKS).filter(
      ([name]) => !['calls', 'compose', 'coalesce', 'allowAllFailed', 'serverTiming'].includes(name),
    ),
  ),
  passThrough: ['an object with `upstream` and `path`', isRecord],
}

/** They ask for a part of a response, or for none: pass-through may forward them, and a call needs all of it. */
const CONDITIONAL: readonly string[] = [
  ...['if-match', 'if-none-match', 'if-modified-since', 'if-unmodified-since', 'if-range', 'range'],
]

/** Throws for options that nothing can be answered with, and says where in them. */
export function checkOptions(options: unknown, others: readonly string[] = []): void {
  demand(isRecord(options), 'options', 'an object with `upstreams` and `endpoints`', options)
  refuseUnknown(options, ['upstreams', 'endpoints', 'coalesce', ...Object.keys(SEEING_CHECKS), ...others], 'options')
  checkSeeing(options)
  const { upstreams, endpoints, coalesce } = options
  demand(coalesce === undefined || typeof coalesce === 'boolean', 'coalesce', 'a boolean', coalesce)
  demand(isRecord(upstreams), 'upstreams', 'an object of upstreams by name', upstreams)
  for (const [name, upstream] of Object.entries(upstreams)) checkUpstream(upstream, `upstreams.${name}`)
  demand(Array.isArray(endpoints), 'endpoints', 'an array of endpoints', endpoints)
  for (const [index, endpoint] of (endpoints as unknown[]).entries()) {
    checkEndpoint(endpoint, `endpoints[${index}]`, Object.keys(upstreams))
  }
}

function checkSeeing(options: Record<string, unknown>): void {
  for (const [name, [expected, holds]] of Object.entries(SEEING_CHECKS)) {
    const value = options[name]
    demand(value === undefined || holds(value), name, expected, value)
  }
  const { status } = options
  if (isRecord(status)) checkAll(status, STATUS_CHECKS, 'status', [])
}

function isObserver(value: unknown): boolean {
  if (typeof value !== 'object' || value === null) return false
  const methods = OBSERVER_METHODS.map((name) => (value as Record<string, unknown>)[name])
  return methods.every((one) => one === undefined || typeof one === 'function') && methods.some(Boolean)
}

function checkUpstream(upstream: unknown, where: string): void {
  const [expected, holds] = UPSTREAM_CHECKS['origin']!
  if (typeof upstream === 'string') return demand(holds(upstream), where, expected, upstream)
  demand(isRecord(upstream), where, `${expected}, or an object with \`origin\``, upstream)
  checkAll(upstream, UPSTREAM_CHECKS, where, ['origin'])
  const { breaker } = upstream as { breaker?: false | BreakerOptions }
  if (breaker) checkAll({ ...breaker }, BREAKER_CHECKS, `${where}.breaker`, [])
  const { cache } = upstream
  if (isRecord(cache)) {
    checkAll(cache, CACHE_CHECKS, `${where}.cache`, [])
    const ofMemory = MEMORY_OPTIONS.find((name) => cache[name] !== undefined)
    if (cache['store'] && ofMemory !== undefined)
      demand(false, `${where}.cache.${ofMemory}`, 'left out, as it has `store`', cache[ofMemory])
  }
}

function checkEndpoint(endpoint: unknown, where: string, upstreams: readonly string[]): void {
  demand(isRecord(endpoint), where, 'an object with `path` and `calls`', endpoint)
  if (endpoint['passThrough'] !== undefined) return checkPassThrough(endpoint, where, upstreams)
  checkAll(endpoint, ENDPOINT_CHECKS, where, ['path', 'calls'])
  for (const [name, call] of Object.entries(endpoint['calls'] as object)) {
    const at = `${where}.calls.${name}`
    demand(/^[\w-]+$/.test(name), at, 'named by letters, digits, - and _', name)
    demand(isRecord(call), at, 'an object with `upstream` and `path`', call)
    checkAll(call, CALL_CHECKS, at, ['upstream', 'path'])
    const { upstream, method = 'GET', retry = 0, hedge = false } = call as unknown as CallOptions
    const { forwardHeaders = [], forwardBody } = call as unknown as CallOptions
    const conditional = forwardHeaders.find((header) => CONDITIONAL.includes(header))
    const without = 'without conditional headers, as a call needs the whole response'
    demand(conditional === undefined, `${at}.forwardHeaders`, without, conditional)
    demand(upstreams.includes(upstream), `${at}.upstream`, `one of ${upstreams.join(', ')}`, upstream)
    const again = `one of ${IDEMPOTENT.join(', ')}`
    if (retry > 0) demand(isIdempotent(method), `${at}.method`, `${again}, as it has \`retry\``, method)
    if (forwardBody) demand(method !== 'GET', `${at}.method`, 'other than GET, as it has `forwardBody`', method)
    if (hedge !== false) demand(method === 'GET', `${at}.method`, 'GET, as it has `hedge`', method)
    const { shadow } = call as unknown as CallOptions
    if (!shadow) continue
    checkAll({ ...shadow }, SHADOW_CHECKS, `${at}.shadow`, ['upstream'])
    demand(
      upstreams.includes(shadow.upstream),
      `${at}.shadow.upstream`,
      `one of ${upstreams.join(', ')}`,
      shadow.upstream,
    )
    demand(method === 'GET', `${at}.method`, 'GET, as it has `shadow`', method)
  }
}

function checkPassThrough(endpoint: Record<string, unknown>, where: string, upstreams: readonly string[]): void {
  checkAll(endpoint, PASS_THROUGH_ENDPOINT_CHECKS, where, ['path', 'passThrough'])
  const { method = 'GET', passThrough } = endpoint as unknown as PassThroughEndpointOptions
  const at = `${where}.passThrough`
  checkAll({ ...passThrough }, PASS_THROUGH_CHECKS, at, ['upstream', 'path'])
  const { upstream, forwardBody = false } = passThrough
  demand(upstreams.includes(upstream), `${at}.upstream`, `one of ${upstreams.join(', ')}`, upstream)
  const bodyless = [method, passThrough.method ?? method].find((one) => one === 'GET' || one === 'HEAD')
  if (bodyless !== undefined) {
    demand(!forwardBody, `${at}.forwardBody`, `false, as a method is ${bodyless}`, forwardBody)
  }
}

function checkAll(options: Record<string, unknown>, checks: Checks, where: string, required: readonly string[]): void {
  refuseUnknown(options, Object.keys(checks), where)
  for (const [name, [expected, holds]] of Object.entries(checks)) {
    const value = options[name]
    const isLeftOut = value === undefined && !required.includes(name)
    demand(isLeftOut || holds(value), `${where}.${name}`, expected, value)
  }
}

function refuseUnknown(options: object, known: readonly string[], where: string): void {
  const unknown = Object.keys(options).find((name) => !known.includes(name))
  if (unknown === undefined) return
  throw new InvalidOptionError(`Expected \`${where}\` to have some of ${known.join(', ')}, got \`${unknown}\``)
}

function isOrigin(value: unknown): boolean {
  if (typeof value !== 'string' || !URL.canParse(value)) return false
  const { protocol, origin } = new URL(value)
  return (protocol === 'http:' || protocol === 'https:') && (value === origin || value === `${origin}/`)
}

function isForwardable(name: unknown): boolean {
  return typeof name === 'string' && /^[a-z0-9-]+$/.test(name) && isEndToEnd(name)
}

function isFunction(value: unknown): boolean {
  return typeof value === 'function'
}

function isRecord(value: unknown): value is Record<string, unknown> {
  return typeof value === 'object' && value !== null && !Array.isArray(value)
}

function demand(holds: boolean, name: string, expected: string, got: unknown): asserts holds {
  if (!holds) throw new InvalidOptionError(`Expected \`${name}\` to be ${expected}, got ${shown(got)}`)
}

function shown(value: unknown): string {
  if (Array.isArray(value)) return 'an array'
  if (typeof value === 'string') return `${JSON.stringify(value)} (string)`
  if (typeof value === 'number' || typeof value === 'boolean') return `${value} (${typeof value})`
  if (value === undefined || value === null) return String(value)
  return typeof value === 'object' ? 'an object' : `a ${typeof value}`
}
