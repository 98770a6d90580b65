// Options of the plugin and of the factory.

import type { FastifyServerOptions, LogLevel, RouteShorthandOptions } from 'fastify'
import type { CallOptions } from './call-options.ts'
import type { EndpointOptions, PassThroughEndpointOptions } from './endpoint-options.ts'
import type { GatewayObserver } from './observer.ts'
import type { UpstreamOptions } from './upstream-options.ts'

/** Where the status of the gateway is, and who may see it. */
export interface StatusOptions {
  /** Its path, below the prefix. @default '/__gateway' */
  path?: string
  /** Options of its route, as Fastify takes them, such as an `onRequest` hook that asks who it is. @default {} */
  route?: RouteShorthandOptions
}

/** Options of {@link gatewayPlugin}; `Endpoints` are the calls of each, `unknown` where there are none. */
export interface GatewayPluginOptions<Endpoints extends readonly unknown[] = readonly Record<string, CallOptions>[]> {
  /** The servers that calls go to, by name: an origin such as `http://users:3000`, or options. */
  upstreams: Readonly<Record<string, string | UpstreamOptions>>
  /** What is answered. */
  endpoints: { readonly [Index in keyof Endpoints]: EndpointOptions<Endpoints[Index]> | PassThroughEndpointOptions }
  /** Whether endpoints coalesce where they can. @default false */
  coalesce?: boolean
  /** Who is told of each call, such as metrics and traces. @default none */
  observers?: readonly GatewayObserver[]
  /** The level that each call is logged at when it is over. @default 'silent' */
  callLogLevel?: LogLevel
  /** Whether `GET /__gateway` answers how the upstreams are: origins, circuits, calls, connections; or where. @default false */
  status?: boolean | StatusOptions
}

/** Options of {@link createAggregatorGateway}: the plugin's, and those of Fastify itself. */
export interface CreateAggregatorGatewayOptions<
  Endpoints extends readonly unknown[] = readonly Record<string, CallOptions>[],
> extends GatewayPluginOptions<Endpoints> {
  /** Options of `Fastify()`. @default {} */
  fastify?: FastifyServerOptions
}
