// Kinds, bounds and defaults of all options. A test compares them with the interfaces.

import {
  anyOf,
  boolean,
  bytes,
  custom,
  func,
  integer,
  isRecord,
  list,
  milliseconds,
  object,
  observer,
  oneOf,
  optional,
  type OptionsSchema,
  record,
  type Schema,
  share,
  string,
} from 'checked-options'
import type { FastifyServerOptions, LogLevel, RouteShorthandOptions } from 'fastify'
import type { LookupFunction } from 'node:net'
import * as v from 'valibot'
import { isEndToEnd } from '../http/header-rules.ts'
import { METHODS } from '../http/methods.ts'
import type { Authenticator } from './authentication.ts'
import type { CallOptions, ConditionOptions, ForEachOptions, HeadersOption, ShadowOptions } from './call-options.ts'
import type { EndpointOptions, PassThroughEndpointOptions, PassThroughOptions } from './endpoint-options.ts'
import type { CreateAggregatorGatewayOptions, GatewayPluginOptions, StatusOptions } from './gateway-options.ts'
import type { GatewayObserver } from './observer.ts'
import type {
  ResolvedCache,
  ResolvedCall,
  ResolvedCircuitBreaker,
  ResolvedEndpoint,
  ResolvedForEach,
  ResolvedGateway,
  ResolvedPassThrough,
  ResolvedPassThroughEndpoint,
  ResolvedShadow,
  ResolvedStatus,
  ResolvedUpstream,
} from './resolved.ts'
import type {
  CacheOptions,
  CacheStore,
  CircuitBreakerOptions,
  KeyValueCacheStoreOptions,
  UpstreamOptions,
} from './upstream-options.ts'

const LOG_LEVELS = ['trace', 'debug', 'info', 'warn', 'error', 'fatal', 'silent'] as const satisfies LogLevel[]
const OBSERVER_METHODS = ['gatewayOpened', 'gatewayClosed', 'callHeaders', 'callStarted', 'callEnded'] as const
const STORE_METHODS = ['get', 'createWriteStream', 'delete']
/** Headers that ask for a part of a response, or for none. A call needs all of it; a pass-through may forward them. */
const CONDITIONAL = ['if-match', 'if-none-match', 'if-modified-since', 'if-unmodified-since', 'if-range', 'range']

/** Defaults of a type that the compiler can compare. */
const NO_NAMES: string[] = []
const NO_STATUSES: number[] = []
const NO_OBSERVERS: GatewayObserver[] = []

const routePath = string('a path that starts with a slash', /^\//)
const upstreamPath = string('a path such as "/users/{params.id}"')
const route: Schema<RouteShorthandOptions> = custom(
  'an object of route options without method, url and handler',
  (value) => isRecord(value) && ['method', 'url', 'handler'].every((name) => !(name in value)),
  { type: 'object' },
)
const headers: Schema<HeadersOption> = custom(
  'a function or an object of header values',
  (value) => typeof value === 'function' || isRecord(value),
  { type: 'object', additionalProperties: { type: 'string' } },
)
const HEADER_NAME = { type: 'string', pattern: '^[a-z0-9-]+$' }
const forwardedHeader = custom<string>(
  'the lower-case name of a header that is not of one connection',
  isForwardable,
  HEADER_NAME,
)
const callHeader = custom<string>(
  'the lower-case name of a header that is neither of one connection nor conditional',
  (value) => isForwardable(value) && !CONDITIONAL.includes(value as string),
  HEADER_NAME,
)
const origin = custom<string>('an origin such as "http://users:3000"', isOrigin, { type: 'string' })
const errorRate = custom<number>(
  'a number between 0 and 1, both excluded',
  (value) => {
    return typeof value === 'number' && value > 0 && value < 1
  },
  { type: 'number', exclusiveMinimum: 0, exclusiveMaximum: 1 },
)
const jsonObject: Schema<Record<string, unknown>> = custom('an object', isRecord, { type: 'object' })

export const circuitBreakerSchema: OptionsSchema<CircuitBreakerOptions, ResolvedCircuitBreaker> = object(
  {
    errorRate: optional(errorRate, 0.5),
    window: optional(integer(1), 20),
    resetTimeout: optional(milliseconds(), 1000),
  },
  { renamed: { threshold: 'errorRate', calls: 'window', openFor: 'resetTimeout' } },
)

export const cacheSchema: OptionsSchema<CacheOptions, ResolvedCache> = object(
  {
    store: optional(
      custom<CacheStore>(`a cache store with ${STORE_METHODS.join(', ')}`, (value) => hasMethods(value, STORE_METHODS)),
    ),
    storeTimeout: optional(milliseconds(), 100),
    maxBytes: optional(bytes()),
    maxEntries: optional(integer(1)),
    maxEntryBytes: optional(bytes()),
  },
  { renamed: { maxSize: 'maxBytes', maxCount: 'maxEntries', maxEntrySize: 'maxEntryBytes' } },
)

export const keyValueCacheStoreSchema: OptionsSchema<
  KeyValueCacheStoreOptions,
  Required<KeyValueCacheStoreOptions>
> = object({ maxEntryBytes: optional(bytes(), 1_048_576) }, { renamed: { maxEntrySize: 'maxEntryBytes' } })

export const upstreamSchema: OptionsSchema<
  UpstreamOptions,
  Omit<ResolvedUpstream, 'cache'> & { readonly cache: boolean | ResolvedCache }
> = object(
  {
    origin: anyOf(origin, list(origin)),
    maxConnections: optional(integer(1), 64),
    maxQueue: optional(integer(0), 256),
    maxStreams: optional(integer(0), 1024),
    connectTimeout: optional(milliseconds(), 1000),
    connectionTtl: optional(milliseconds(), 30_000),
    lookup: optional(func<LookupFunction>()),
    tls: optional(custom<NonNullable<UpstreamOptions['tls']>>('an object', isRecord, { type: 'object' }), {}),
    maxResponseBytes: optional(bytes(), 1_048_576),
    circuitBreaker: optional(anyOf(oneOf(false), circuitBreakerSchema), {}),
    retryBudget: optional(share(), 0.1),
    hedgeBudget: optional(share(), 0.02),
    cache: optional(anyOf(boolean(), cacheSchema), false),
  },
  {
    renamed: {
      connections: 'maxConnections',
      queue: 'maxQueue',
      breaker: 'circuitBreaker',
      maxResponseSize: 'maxResponseBytes',
    },
  },
)

export const shadowSchema: OptionsSchema<ShadowOptions, ResolvedShadow> = object({
  upstream: string(),
  share: optional(share(), 1),
  timeout: optional(milliseconds(), 2000),
})

const placeholder = string('a placeholder such as "{calls.orders.items}"', /^\{[^{}]+\}$/)

export const forEachSchema: OptionsSchema<ForEachOptions, ResolvedForEach> = object({
  items: placeholder,
  concurrency: optional(integer(1), 8),
  maxItems: optional(integer(1), 1000),
})

const eachItem = anyOf(placeholder, forEachSchema)
/** A list alone has the defaults of the other options. */
const forEach: Schema<string | ForEachOptions, ResolvedForEach> = v.pipe(
  eachItem,
  v.transform((given) => (typeof given === 'string' ? v.parse(forEachSchema, { items: given }) : given)),
  v.metadata({ kinds: [eachItem] }),
)

const conditionValue = custom<string | number | boolean | null>(
  'a string, a number, a boolean or null',
  (value) => value === null || ['string', 'number', 'boolean'].includes(typeof value),
  { type: ['string', 'number', 'boolean', 'null'] },
)

export const conditionSchema: OptionsSchema<ConditionOptions> = object({
  value: placeholder,
  in: optional(list(conditionValue)),
  notIn: optional(list(conditionValue)),
})

const condition = anyOf(
  string('a placeholder such as "{query.details}" or "!{query.details}"', /^!?\{[^{}]+\}$/),
  conditionSchema,
)

export const callSchema: OptionsSchema<CallOptions, ResolvedCall> = object(
  {
    upstream: string(),
    path: upstreamPath,
    allowEncodedSlash: optional(boolean(), false),
    method: optional(oneOf('GET', 'POST', 'PUT', 'PATCH', 'DELETE'), 'GET'),
    headers: optional(headers, {}),
    forwardHeaders: optional(list(callHeader), NO_NAMES),
    forwardQuery: optional(list(string()), NO_NAMES),
    forwardBody: optional(boolean(), false),
    optional: optional(boolean(), false),
    timeout: optional(milliseconds()),
    retries: optional(integer(0), 0),
    hedge: optional(anyOf(boolean(), milliseconds()), false),
    forwardStatuses: optional(list(integer(400, 599)), NO_STATUSES),
    maxDepth: optional(integer(1), 64),
    schema: optional(jsonObject),
    validate: optional(boolean(), false),
    shadow: optional(shadowSchema),
    forEach: optional(forEach),
    when: optional(anyOf(condition, list(condition))),
    target: optional(string()),
    unwrap: optional(boolean(), false),
    pick: optional(list(string())),
    omit: optional(list(string())),
    rename: optional(record(string())),
  },
  { renamed: { retry: 'retries', propagate: 'forwardStatuses' } },
)

const routeOptions = {
  method: optional(oneOf(...METHODS), 'GET'),
  path: routePath,
  timeout: optional(milliseconds(), 2000),
  route: optional(route, {}),
  authentication: optional(anyOf(boolean(), oneOf('optional'))),
}

export const endpointSchema: OptionsSchema<EndpointOptions, ResolvedEndpoint> = object({
  ...routeOptions,
  calls: record(callSchema),
  compose: optional(
    anyOf(
      oneOf('object', 'array', 'merge'),
      func<Extract<EndpointOptions['compose'], (...args: never[]) => unknown>>(),
    ),
    'object',
  ),
  coalesce: optional(boolean()),
  allowAllFailed: optional(boolean(), false),
  serverTiming: optional(boolean(), false),
})

export const passThroughSchema: OptionsSchema<PassThroughOptions, ResolvedPassThrough> = object(
  {
    upstream: string(),
    path: upstreamPath,
    allowEncodedSlash: optional(boolean(), false),
    method: optional(oneOf(...METHODS)),
    headers: optional(headers, {}),
    forwardHeaders: optional(list(forwardedHeader), NO_NAMES),
    forwardQuery: optional(list(string()), NO_NAMES),
    forwardBody: optional(boolean(), false),
    responseHeaders: optional(list(forwardedHeader), NO_NAMES),
    maxResponseBytes: optional(bytes()),
    clientTimeout: optional(milliseconds(), 60_000),
    heartbeat: optional(milliseconds()),
  },
  { renamed: { answerHeaders: 'responseHeaders', maxResponseSize: 'maxResponseBytes' } },
)

const passThroughEndpointSchema: OptionsSchema<PassThroughEndpointOptions, ResolvedPassThroughEndpoint> = object({
  ...routeOptions,
  passThrough: passThroughSchema,
})

export const statusSchema: OptionsSchema<StatusOptions, ResolvedStatus> = object({
  path: optional(routePath, '/__gateway'),
  route: optional(route, {}),
})

/** An object is checked by one schema, so that its error is about the kind of endpoint that it is. */
const anyEndpoint: Schema<
  EndpointOptions | PassThroughEndpointOptions,
  ResolvedEndpoint | ResolvedPassThroughEndpoint
> = v.pipe(
  v.lazy<Schema<EndpointOptions | PassThroughEndpointOptions, ResolvedEndpoint | ResolvedPassThroughEndpoint>>(
    (endpoint) =>
      isRecord(endpoint) && endpoint['passThrough'] !== undefined ? passThroughEndpointSchema : endpointSchema,
  ),
  v.metadata({ expected: 'an object', kinds: [endpointSchema, passThroughEndpointSchema] }),
)

const gatewayEntries = {
  upstreams: record(anyOf(origin, upstreamSchema)),
  endpoints: list(anyEndpoint),
  authentication: optional(
    custom<Authenticator>(
      'an object with authenticate, such as jwtAuthentication(), and a valid challenge if any',
      isAuthenticator,
    ),
  ),
  coalesce: optional(boolean(), false),
  observers: optional(list(observer<GatewayObserver>(OBSERVER_METHODS)), NO_OBSERVERS),
  callLogLevel: optional(oneOf(...LOG_LEVELS), 'silent'),
  status: optional(anyOf(boolean(), statusSchema), false),
}

/** Options as the schema returns them, before upstreams and the status have one form. */
export type CheckedGateway = Omit<ResolvedGateway, 'upstreams' | 'status'> & {
  readonly upstreams: Readonly<Record<string, string | v.InferOutput<typeof upstreamSchema>>>
  readonly status: boolean | ResolvedStatus
}

const any = custom<unknown>('anything', () => true)

/** Fastify passes the last three to a plugin beside its own. */
export const pluginSchema: OptionsSchema<GatewayPluginOptions, CheckedGateway> = object({
  ...gatewayEntries,
  prefix: optional(any),
  logLevel: optional(any),
  logSerializers: optional(any),
})

const ofFactory = {
  ...gatewayEntries,
  fastify: optional(custom<FastifyServerOptions>('an object', isRecord, { type: 'object' }), {}),
}

export const factorySchema: OptionsSchema<CreateAggregatorGatewayOptions, CheckedGateway> = object(ofFactory)

/** The kinds of the factory's options, by name. */
export const factoryEntries: Readonly<Record<string, v.GenericSchema>> = ofFactory

function isForwardable(name: unknown): boolean {
  return typeof name === 'string' && /^[a-z0-9-]+$/.test(name) && isEndToEnd(name)
}

function hasMethods(value: unknown, names: readonly string[]): boolean {
  return names.every((name) => typeof (value as Record<string, unknown> | null | undefined)?.[name] === 'function')
}

/** Whether a value is an authenticator, whose challenge, if any, can be the value of a header. */
export function isAuthenticator(value: unknown): boolean {
  if (!hasMethods(value, ['authenticate'])) return false
  const { challenge } = value as Record<string, unknown>
  return challenge === undefined || (typeof challenge === 'string' && /^[\x21-\x7e][\x20-\x7e]*$/.test(challenge))
}

/** A URL with a host, a port that exists, and nothing after it. */
function isOrigin(value: unknown): boolean {
  return typeof value === 'string' && /^https?:\/\/[^/?#@\s]+\/?$/.test(value) && URL.canParse(value)
}
