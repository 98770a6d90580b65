// Factory
export { createAggregatorGateway } from './create-aggregator-gateway.ts'

// Plugin
export { gatewayPlugin, gatewayPlugin as default } from './plugin.ts'

// Cache
export { KeyValueCacheStore, type KeyValueCacheStoreOptions, type KeyValueStore } from './key-value-cache-store.ts'

// Options
export type { CacheOptions, CacheStore } from './cache.ts'
export type { HeadersOption, MakeHeaders } from './call-headers.ts'
export type { Composition } from './compose.ts'
export type { MappingOptions } from './mapping.ts'
export type {
  CallOptions,
  CreateAggregatorGatewayOptions,
  EndpointOptions,
  GatewayPluginOptions,
  Method,
  PassThroughEndpointOptions,
} from './options.ts'
export type { PassThroughOptions } from './pass-through.ts'
export type { ShadowOptions } from './shadow.ts'
export type { BreakerOptions } from './circuit.ts'
export type { StatusOptions } from './status.ts'
export type { UpstreamOptions } from './upstream.ts'

// Observers
export type { CallEnd, GatewayObserver, GatewayStatus, ObservedCall, ObservedGateway } from './observe.ts'
export type { FailureReason } from './outcome.ts'
export type { OriginStatus } from './upstream.ts'
