// Options after the check, with their defaults.

import type { GatewayPluginOptions, StatusOptions } from './gateway-options.ts'
import type { CallOptions, ForEachOptions, ShadowOptions } from './call-options.ts'
import type { EndpointOptions, PassThroughEndpointOptions, PassThroughOptions } from './endpoint-options.ts'
import type { CacheOptions, CircuitBreakerOptions, UpstreamOptions } from './upstream-options.ts'

/** An interface whose options with a default are always there. */
type Resolved<T, Defaulted extends keyof T> = Omit<T, Defaulted> & {
  readonly [Name in Defaulted]-?: Exclude<T[Name], undefined>
}

export type ResolvedShadow = Required<ShadowOptions>

export type ResolvedForEach = Required<ForEachOptions>

export type ResolvedCall = Resolved<
  Omit<CallOptions, 'shadow' | 'forEach'>,
  | ('method' | 'headers' | 'forwardHeaders' | 'forwardQuery' | 'forwardBody' | 'allowEncodedSlash')
  | ('optional' | 'retries' | 'hedge' | 'forwardStatuses' | 'maxDepth' | 'validate' | 'unwrap')
> & { readonly shadow?: ResolvedShadow; readonly forEach?: ResolvedForEach }

export type ResolvedEndpoint = Resolved<
  Omit<EndpointOptions, 'calls'>,
  'method' | 'timeout' | 'compose' | 'allowAllFailed' | 'serverTiming' | 'route'
> & { readonly calls: Readonly<Record<string, ResolvedCall>> }

export type ResolvedPassThrough = Resolved<
  PassThroughOptions,
  | ('headers' | 'forwardHeaders' | 'forwardQuery' | 'forwardBody' | 'allowEncodedSlash')
  | ('responseHeaders' | 'clientTimeout')
>

export type ResolvedPassThroughEndpoint = Resolved<
  Omit<PassThroughEndpointOptions, 'passThrough'>,
  'method' | 'timeout' | 'route'
> & { readonly passThrough: ResolvedPassThrough }

export type ResolvedCircuitBreaker = Required<CircuitBreakerOptions>

export type ResolvedCache = Resolved<CacheOptions, 'storeTimeout'>

export type ResolvedUpstream = Resolved<
  Omit<UpstreamOptions, 'circuitBreaker' | 'cache'>,
  | ('maxConnections' | 'maxQueue' | 'maxStreams' | 'connectTimeout' | 'connectionTtl' | 'tls')
  | ('maxResponseBytes' | 'retryBudget' | 'hedgeBudget')
> & { readonly circuitBreaker: false | ResolvedCircuitBreaker; readonly cache: false | ResolvedCache }

export type ResolvedStatus = Required<StatusOptions>

export type ResolvedGateway = Required<Pick<GatewayPluginOptions, 'coalesce' | 'observers' | 'callLogLevel'>> &
  Pick<GatewayPluginOptions, 'authentication'> & {
    readonly upstreams: Readonly<Record<string, ResolvedUpstream>>
    readonly endpoints: readonly (ResolvedEndpoint | ResolvedPassThroughEndpoint)[]
    readonly status: false | ResolvedStatus
  }
