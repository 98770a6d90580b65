// Factory
export { createAggregatorGateway } from './create-aggregator-gateway.ts'

// Plugin
export { gatewayPlugin, gatewayPlugin as default } from './plugin.ts'

// Cache
export {
  KeyValueCacheStore,
  type KeyValueCacheStoreOptions,
  type KeyValueStore,
} from './cache/key-value-cache-store.ts'

// Options
export type { CacheOptions, CacheStore } from './cache/response-cache.ts'
export type { HeadersOption, MakeHeaders } from './request/request-headers.ts'
export type { Composition } from './endpoint/compose.ts'
export type { MappingOptions } from './call/mapping.ts'
export type {
  CallOptions,
  CreateAggregatorGatewayOptions,
  EndpointOptions,
  GatewayPluginOptions,
  Method,
  PassThroughEndpointOptions,
} from './options/options.ts'
export type { PassThroughOptions } from './pass-through/proxied-request.ts'
export type { ShadowOptions } from './call/shadow.ts'
export type { BreakerOptions } from './upstream/circuit-breaker.ts'
export type { StatusOptions } from './observability/status-route.ts'
export type { UpstreamOptions } from './upstream/upstream.ts'

// Observers
export type {
  CallEnd,
  GatewayObserver,
  GatewayStatus,
  ObservedCall,
  ObservedGateway,
} from './observability/observers.ts'
export type { FailureReason } from './call/outcome.ts'
export type { OriginStatus } from './upstream/upstream.ts'
