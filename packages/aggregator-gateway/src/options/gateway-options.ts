// Options of the plugin and of the factory.

import type { FastifyServerOptions, LogLevel, RouteShorthandOptions } from 'fastify'
import type { Authenticator } from './authentication.ts'
import type { CallOptions } from './call-options.ts'
import type { EndpointOptions, PassThroughEndpointOptions } from './endpoint-options.ts'
import type { GatewayObserver } from './observer.ts'
import type { UpstreamOptions } from './upstream-options.ts'

/** The status route. */
export interface StatusOptions {
  /** Path of the route, below the prefix. @default '/__gateway' */
  path?: string
  /** Fastify's options of the route, such as an `onRequest` hook that authenticates. @default {} */
  route?: RouteShorthandOptions
}

/** Options of {@link gatewayPlugin}. `Endpoints` are the calls of each, `unknown` for a pass-through. */
export interface GatewayPluginOptions<Endpoints extends readonly unknown[] = readonly Record<string, CallOptions>[]> {
  /** Upstreams by name: an origin such as `http://users:3000`, or options. */
  upstreams: Readonly<Record<string, string | UpstreamOptions>>
  /** Routes of the gateway. */
  endpoints: { readonly [Index in keyof Endpoints]: EndpointOptions<Endpoints[Index]> | PassThroughEndpointOptions }
  /** Verifies the clients of all endpoints, such as `jwtAuthentication()` of `aggregator-gateway/jwt`. @default none */
  authentication?: Authenticator
  /** Coalesce requests of all endpoints that can. @default false */
  coalesce?: boolean
  /** Observers of each call, such as metrics and traces. @default [] */
  observers?: readonly GatewayObserver[]
  /** Log level of a line for each call. @default 'silent' */
  callLogLevel?: LogLevel
  /** Serve `GET /__gateway` with the state of all upstreams, or at another path. @default false */
  status?: boolean | StatusOptions
}

/** Options of {@link createAggregatorGateway}: the plugin's, and Fastify's. */
export interface CreateAggregatorGatewayOptions<
  Endpoints extends readonly unknown[] = readonly Record<string, CallOptions>[],
> extends GatewayPluginOptions<Endpoints> {
  /** Options of `Fastify()`. @default {} */
  fastify?: FastifyServerOptions
}
