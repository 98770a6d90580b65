// Options of an endpoint, and of one that passes its requests through.

import type { FastifyRequest, RouteShorthandOptions } from 'fastify'
import type { Method } from '../http/methods.ts'
import type { CallOptions, HeadersOption } from './call-options.ts'

/** How the answer is made of the calls' answers, which are in the order of `calls`. */
export type Composition = 'object' | 'array' | 'merge'

/** A path that is answered by calls to upstreams. */
export interface EndpointOptions<Calls = Record<string, CallOptions>> {
  /** The method. @default 'GET' */
  method?: Method
  /** The path, in Fastify's syntax, such as `/dashboard/:id`. */
  path: string
  /** Milliseconds for all calls together. @default 2000 */
  timeout?: number
  /** The calls, by name; in parallel, unless one's path needs the answer of another. */
  calls: Calls & Readonly<Record<string, CallOptions>>
  /** How the answer is made: an object by name, an array, all members in one object, or what a function returns. @default 'object' */
  compose?: Composition | ((values: { [Name in keyof Calls]: unknown }, request: FastifyRequest) => unknown)
  /** Whether clients that ask the same at the same time are answered by the same calls; for GET. @default the gateway's, unless a call hands on `authorization` or `cookie`, or `route` has hooks */
  coalesce?: boolean
  /** Whether to respond 200 with `null` alone when every call is optional and all have failed. @default false */
  allowAllFailed?: boolean
  /** Whether the answer says how long each call took, by the header `server-timing`. @default false */
  serverTiming?: boolean
  /** Options of its route, as Fastify takes them: `schema`, hooks, `config`, `constraints`, `bodyLimit` and others. @default {} */
  route?: RouteShorthandOptions
  passThrough?: never
}

/** What a request is handed on as. */
export interface PassThroughOptions {
  /** The name of the upstream. */
  upstream: string
  /** The path, with places for values: `/files/{params.id}`, `{query.page}`, `{headers.x-tenant}`, `{user.sub}`. */
  path: string
  /** Whether values in the path may contain a slash, which is sent as `%2F`. @default false */
  allowEncodedSlash?: boolean
  /** The method. @default the endpoint's, and HEAD for HEAD */
  method?: Method
  /** Headers of the upstream's request: by name, with places such as `{user.sub}`, or a function of the request. @default none */
  headers?: HeadersOption
  /** Names of the client's headers that are handed on; no other is. @default none */
  forwardHeaders?: readonly string[]
  /** Names of the client's query parameters that are handed on; no other is. @default none */
  forwardQuery?: readonly string[]
  /** Whether the client's body is handed on, of any type, with `content-type`, `content-encoding` and `content-length`. @default false */
  forwardBody?: boolean
  /** Names of the upstream's headers that are handed on, beside those below. @default none */
  answerHeaders?: readonly string[]
  /** Maximum bytes of the response body; the upstream's `maxResponseSize` is for calls. @default unlimited */
  maxResponseSize?: number
  /** Milliseconds that the client may rest while it sends its body or takes the answer. @default 60000 */
  clientTimeout?: number
}

/** A path whose requests are handed on to an upstream, and its answers to the client, as they are. */
export interface PassThroughEndpointOptions extends Omit<
  EndpointOptions,
  'calls' | 'compose' | 'coalesce' | 'allowAllFailed' | 'serverTiming' | 'passThrough'
> {
  /** What a request is handed on as, in place of `calls`. */
  passThrough: PassThroughOptions
  calls?: never
}
