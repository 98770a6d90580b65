// The sections of docs/options.md of aggregator-gateway: their options, and where these are declared.

import type { optionsOf as describedBy } from 'checked-options'
import { commandSchema } from '../../packages/aggregator-gateway/src/config/config-schema.ts'
import * as schemas from '../../packages/aggregator-gateway/src/options/schema.ts'
import { openTelemetrySchema } from '../../packages/aggregator-gateway/src/observability/opentelemetry-options.ts'
import { jwtSchema } from '../../packages/aggregator-gateway/src/jwt/jwt-options.ts'
import { prometheusSchema } from '../../packages/aggregator-gateway/src/observability/prometheus-options.ts'

export interface Section {
  readonly heading: string
  readonly intro: string
  readonly source: string
  readonly interfaces: readonly string[]
  readonly schema: Parameters<typeof describedBy>[0]
}

/** The sections of docs/options.md, in their order. */
export const SECTIONS: readonly Section[] = [
  {
    heading: 'Gateway',
    intro: 'Options of `gatewayPlugin`. `createAggregatorGateway` takes `fastify`, too.',
    source: 'src/options/gateway-options.ts',
    interfaces: ['GatewayPluginOptions', 'CreateAggregatorGatewayOptions'],
    schema: schemas.factorySchema,
  },
  {
    heading: 'Configuration file',
    intro: 'Options that a [configuration file](configuration-file.md) has beside those of `createAggregatorGateway`.',
    source: 'src/config/define-config.ts',
    interfaces: ['GatewayConfig'],
    schema: commandSchema,
  },
  {
    heading: 'Status',
    intro: 'Options of `status`.',
    source: 'src/options/gateway-options.ts',
    interfaces: ['StatusOptions'],
    schema: schemas.statusSchema,
  },
  {
    heading: 'Upstream',
    intro: 'Options of each upstream.',
    source: 'src/options/upstream-options.ts',
    interfaces: ['UpstreamOptions'],
    schema: schemas.upstreamSchema,
  },
  {
    heading: 'Circuit breaker',
    intro: 'Options of `circuitBreaker`. See [circuit breakers](failures.md#circuit-breakers).',
    source: 'src/options/upstream-options.ts',
    interfaces: ['CircuitBreakerOptions'],
    schema: schemas.circuitBreakerSchema,
  },
  {
    heading: 'Cache',
    intro: 'Options of `cache`. See [caching](caching.md).',
    source: 'src/options/upstream-options.ts',
    interfaces: ['CacheOptions'],
    schema: schemas.cacheSchema,
  },
  {
    heading: 'KeyValueCacheStore',
    intro: 'Options of `new KeyValueCacheStore(store, options)`.',
    source: 'src/options/upstream-options.ts',
    interfaces: ['KeyValueCacheStoreOptions'],
    schema: schemas.keyValueCacheStoreSchema,
  },
  {
    heading: 'Endpoint',
    intro: 'Options of each endpoint.',
    source: 'src/options/endpoint-options.ts',
    interfaces: ['EndpointOptions'],
    schema: schemas.endpointSchema,
  },
  {
    heading: 'Call',
    intro:
      'Options of each call. The last five map the response, in their order. They apply to each element if it is an array.',
    source: 'src/options/call-options.ts',
    interfaces: ['CallOptions', 'MappingOptions'],
    schema: schemas.callSchema,
  },
  {
    heading: 'Shadow',
    intro: 'Options of `shadow`. See [shadow traffic](failures.md#shadow-traffic).',
    source: 'src/options/call-options.ts',
    interfaces: ['ShadowOptions'],
    schema: schemas.shadowSchema,
  },
  {
    heading: 'For each',
    intro: 'Options of `forEach`. A text is the list alone. See [lists](fan-out.md#a-call-for-each-item).',
    source: 'src/options/call-options.ts',
    interfaces: ['ForEachOptions'],
    schema: schemas.forEachSchema,
  },
  {
    heading: 'Condition',
    intro: 'Options of a condition in `when`. It has either `in` or `notIn`. See [conditions](fan-out.md#conditions).',
    source: 'src/options/call-options.ts',
    interfaces: ['ConditionOptions'],
    schema: schemas.conditionSchema,
  },
  {
    heading: 'Pass-through',
    intro:
      'Options of `passThrough`. Its endpoint has `method`, `path`, `timeout` and `route`, too. See [pass-through](pass-through.md).',
    source: 'src/options/endpoint-options.ts',
    interfaces: ['PassThroughOptions'],
    schema: schemas.passThroughSchema,
  },
  {
    heading: 'JWT authentication',
    intro: 'Options of `jwtAuthentication`. See [authentication](authentication.md#json-web-tokens).',
    source: 'src/jwt/jwt-options.ts',
    interfaces: ['JwtAuthenticationOptions'],
    schema: jwtSchema,
  },
  {
    heading: 'Prometheus observer',
    intro: 'Options of `prometheusObserver`. See [Prometheus](observability.md#prometheus).',
    source: 'src/observability/prometheus-options.ts',
    interfaces: ['PrometheusObserverOptions'],
    schema: prometheusSchema,
  },
  {
    heading: 'OpenTelemetry observer',
    intro: 'Options of `openTelemetryObserver`. See [OpenTelemetry](observability.md#opentelemetry).',
    source: 'src/observability/opentelemetry-options.ts',
    interfaces: ['OpenTelemetryObserverOptions'],
    schema: openTelemetrySchema,
  },
]
