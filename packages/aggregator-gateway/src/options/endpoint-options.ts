// Options of an endpoint: an aggregation of calls, or a pass-through.

import type { FastifyRequest, RouteShorthandOptions } from 'fastify'
import type { Method } from '../http/methods.ts'
import type { CallOptions, HeadersOption } from './call-options.ts'
import type { CallValue } from './typed-call.ts'

/** How a response is composed from those of the calls, which are in the order of `calls`. */
export type Composition = 'object' | 'array' | 'merge'

/** A route that responds with the composed responses of calls. */
export interface EndpointOptions<Calls = Record<string, CallOptions>> {
  /** Method of the route. @default 'GET' */
  method?: Method
  /** Path of the route in Fastify's syntax, such as `/dashboard/:id`. */
  path: string
  /** Deadline for all calls together, in milliseconds. @default 2000 */
  timeout?: number
  /** Calls by name. They run in parallel, except those whose path needs a value of another call. */
  calls: Calls & Readonly<Record<string, CallOptions>>
  /** Composition of the response: `'object'` (members by call name), `'array'`, `'merge'` (all members in one object) or a function of the values. @default 'object' */
  compose?:
    | Composition
    | ((values: { [Name in keyof Calls]: CallValue<Calls[Name]> }, request: FastifyRequest) => unknown)
  /** Coalesce requests whose calls send the same at the same time. For GET. @default the gateway's, or false if a call forwards `authorization` or `cookie`, or `route` has hooks */
  coalesce?: boolean
  /** Respond 200 with `null` values if every call is optional and all have failed. @default false */
  allowAllFailed?: boolean
  /** Add a `server-timing` header with the duration of each call. @default false */
  serverTiming?: boolean
  /** Verify clients by the gateway's `authentication`, or, with `'optional'`, only those with credentials. @default true, if the gateway has `authentication` */
  authentication?: boolean | 'optional'
  /** Fastify's options of the route: `schema`, hooks, `config`, `constraints`, `bodyLimit` and others. @default {} */
  route?: RouteShorthandOptions
  passThrough?: never
}

/** The upstream request of a pass-through endpoint. */
export interface PassThroughOptions {
  /** Name of the upstream. */
  upstream: string
  /** Path of the request, with placeholders: `/files/{params.id}`, `{query.page}`, `{headers.x-tenant}`, `{user.sub}`. */
  path: string
  /** Allow slashes in values of the path. They are sent as `%2F`. @default false */
  allowEncodedSlash?: boolean
  /** Method of the request. @default the endpoint's, and HEAD for HEAD */
  method?: Method
  /** Headers of the request: values by name, with placeholders such as `{user.sub}`, or a function of the client's request. @default {} */
  headers?: HeadersOption
  /** Names of the client's headers to forward. No other header is forwarded, and `headers` sets none of them. @default [] */
  forwardHeaders?: readonly string[]
  /** Names of the client's query parameters to forward. No other parameter is forwarded, and `path` sets none of them. @default [] */
  forwardQuery?: readonly string[]
  /** Forward the client's body of any type, with `content-type`, `content-encoding` and `content-length`. @default false */
  forwardBody?: boolean
  /** Names of response headers to forward, in addition to the standard ones. @default [] */
  responseHeaders?: readonly string[]
  /** Maximum bytes of the response body. The upstream's `maxResponseBytes` does not apply. @default unlimited */
  maxResponseBytes?: number
  /** Maximum pause of the client while it sends its body or reads the response, in milliseconds. @default 60000 */
  clientTimeout?: number
  /** Pause of an event stream after which the client gets a comment, in milliseconds. The upstream may pause for any time between events then. @default none */
  heartbeat?: number
}

/** A route that streams its requests to an upstream, and the responses to the client. */
export interface PassThroughEndpointOptions extends Omit<
  EndpointOptions,
  'calls' | 'compose' | 'coalesce' | 'allowAllFailed' | 'serverTiming' | 'passThrough'
> {
  /** The upstream request, instead of `calls`. */
  passThrough: PassThroughOptions
  calls?: never
}
