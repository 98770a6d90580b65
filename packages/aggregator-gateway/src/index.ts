// Factory
export { createAggregatorGateway } from './create-aggregator-gateway.ts'

// Configuration file
export { defineConfig, type GatewayConfig } from './config/define-config.ts'
export type { JwtAlgorithm, JwtAuthenticationOptions } from './jwt/jwt-options.ts'

// Plugin
export { gatewayPlugin, gatewayPlugin as default } from './plugin.ts'

// Cache
export { KeyValueCacheStore, type KeyValueStore } from './cache/key-value-cache-store.ts'

// Types of calls
export { type CallValue, type OpenApiResponse, typedCall, type TypedCall } from './options/typed-call.ts'

// Authentication
export { claimsOf } from './request/claims.ts'
export type { Authenticator, Claims } from './options/authentication.ts'

// Errors
export { errorCodes } from './errors.ts'
export type { FailureReason } from './failure-reasons.ts'

// Options
export type {
  CallOptions,
  Condition,
  ConditionOptions,
  ConditionValue,
  ForEachOptions,
  HeadersOption,
  MakeHeaders,
  MappingOptions,
  ShadowOptions,
} from './options/call-options.ts'
export type {
  Composition,
  EndpointOptions,
  PassThroughEndpointOptions,
  PassThroughOptions,
} from './options/endpoint-options.ts'
export type { CreateAggregatorGatewayOptions, GatewayPluginOptions, StatusOptions } from './options/gateway-options.ts'
export type {
  CacheOptions,
  CacheStore,
  CircuitBreakerOptions,
  KeyValueCacheStoreOptions,
  UpstreamOptions,
} from './options/upstream-options.ts'
export type { Method } from './http/methods.ts'

// Observers
export type {
  CallEnd,
  GatewayObserver,
  GatewayStatus,
  ObservedCall,
  ObservedGateway,
  OriginStatus,
} from './options/observer.ts'
