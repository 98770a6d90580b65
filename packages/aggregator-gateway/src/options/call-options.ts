// Options of a call.

import type { FastifyRequest } from 'fastify'
import type { Method } from '../http/methods.ts'

/** Makes headers of a request; a value of `undefined` leaves the header out. */
export type MakeHeaders = (request: FastifyRequest) => Readonly<Record<string, string | number | undefined>>

/** The option `headers`: by name, with places for values such as `{user.sub}`, or what a function makes of a request. */
export type HeadersOption = Readonly<Record<string, string>> | MakeHeaders

/** What is taken of an answer. */
export interface MappingOptions {
  /** The path of the part that is taken, such as `data.items`. @default the whole answer */
  target?: string
  /** Whether an object with one member is replaced by the member's value. @default false */
  unwrap?: boolean
  /** Paths of what is kept. @default all */
  pick?: readonly string[]
  /** Paths of what is left out. @default none */
  omit?: readonly string[]
  /** New names of top-level members, by their old ones. @default none */
  rename?: Readonly<Record<string, string>>
}

/** Where copies of a call go. */
export interface ShadowOptions {
  /** The name of the upstream. */
  upstream: string
  /** The share of calls of which there is a copy. @default 1 */
  share?: number
  /** Milliseconds that a copy may take. @default 2000 */
  timeout?: number
}

/** A call to an upstream. */
export interface CallOptions extends MappingOptions {
  /** The name of the upstream. */
  upstream: string
  /** The path, with places for values: `/users/{params.id}`, `{query.page}`, `{headers.x-tenant}`, `{body.id}`, `{user.sub}`, `{calls.profile.account}`. */
  path: string
  /** Whether values in the path may contain a slash, which is sent as `%2F`. @default false */
  allowEncodedSlash?: boolean
  /** The method. @default 'GET' */
  method?: Method
  /** Headers of the upstream's request: by name, with places such as `{user.sub}`, or a function of the request. @default none */
  headers?: HeadersOption
  /** Names of the client's headers that are handed on; no other is. @default none */
  forwardHeaders?: readonly string[]
  /** Names of the client's query parameters that are forwarded, repeated ones too. @default none */
  forwardQuery?: readonly string[]
  /** Whether the client's body is forwarded, byte by byte as it came, with its `content-type`. @default false */
  forwardBody?: boolean
  /** Whether the answer is complete enough without it: what failed is `null` then. @default false */
  optional?: boolean
  /** Milliseconds that it may take. @default the endpoint's timeout */
  timeout?: number
  /** How often it is made again when it fails; for GET, PUT and DELETE. @default 0 */
  retry?: number
  /** Whether it is made a second time when it is late, by that many milliseconds or, with `true`, by twice what 95 % of the answers took; for GET. @default false */
  hedge?: boolean | number
  /** Statuses of the upstream, from 400 on, that become the answer's when the call is not optional. @default none */
  propagate?: readonly number[]
  /** The most arrays and objects within each other in its answer. @default 64 */
  maxDepth?: number
  /** What is taken of its answer, as JSON Schema: for OpenAPI alone, nothing is checked by it. @default none */
  schema?: Readonly<Record<string, unknown>>
  /** Where a copy of it goes, whose answer is dropped; for GET. @default none */
  shadow?: ShadowOptions
}
