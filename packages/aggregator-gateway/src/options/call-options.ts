// Options of a call.

import type { FastifyRequest } from 'fastify'
import type { Method } from '../http/methods.ts'

/** Returns headers for a request. A value of `undefined` leaves the header out. */
export type MakeHeaders = (request: FastifyRequest) => Readonly<Record<string, string | number | undefined>>

/** The option `headers`: values by name, with placeholders such as `{user.sub}`, or a function of the request. */
export type HeadersOption = Readonly<Record<string, string>> | MakeHeaders

/** Maps the response of a call, in this order. */
export interface MappingOptions {
  /** Path of the part to use, such as `data.items`. @default the whole response */
  target?: string
  /** Replace an object with a single member by the value of that member. @default false */
  unwrap?: boolean
  /** Paths of the members to use. @default all */
  pick?: readonly string[]
  /** Paths of the members to remove. @default none */
  omit?: readonly string[]
  /** New names of top-level members, by their current names. @default none */
  rename?: Readonly<Record<string, string>>
}

/** Copies of a call to a second upstream. */
export interface ShadowOptions {
  /** Name of the upstream. */
  upstream: string
  /** Share of the calls to copy, from 0 to 1. @default 1 */
  share?: number
  /** Maximum duration of a copy, in milliseconds. @default 2000 */
  timeout?: number
}

/** Makes a call for each item of a list. */
export interface ForEachOptions {
  /** List of items: `{calls.orders.items}`, `{body.ids}`, or `{query.id}` for a repeated query parameter. */
  items: string
  /** Maximum number of running calls for one request. @default 8 */
  concurrency?: number
  /** Maximum number of items. A longer list fails the call, or gets a 400 if the client has sent it. @default 1000 */
  maxItems?: number
}

/** Text, a number or a boolean, compared as text. `null` stands for a missing value. */
export type ConditionValue = string | number | boolean | null

/** A condition on one value. */
export interface ConditionOptions {
  /** The value, such as `{calls.profile.plan}`. A missing value is `null`. */
  value: string
  /** Holds if the value is one of these. @default none */
  in?: readonly ConditionValue[]
  /** Holds if the value is none of these. @default none */
  notIn?: readonly ConditionValue[]
}

/** A condition on the request or on earlier responses: `{query.details}` for a value that is there, `!{query.details}` for one that is not. */
export type Condition = string | ConditionOptions

/** A call to an upstream. */
export interface CallOptions extends MappingOptions {
  /** Name of the upstream. */
  upstream: string
  /** Path of the request, with placeholders: `/users/{params.id}`, `{query.page}`, `{headers.x-tenant}`, `{body.id}`, `{user.sub}`, `{calls.profile.account}`, `{item.id}`. */
  path: string
  /** Allow slashes in values of the path. They are sent as `%2F`. @default false */
  allowEncodedSlash?: boolean
  /** Method of the request. @default 'GET' */
  method?: Exclude<Method, 'HEAD'>
  /** Headers of the request: values by name, with placeholders such as `{user.sub}`, or a function of the client's request. @default {} */
  headers?: HeadersOption
  /** Names of the client's headers to forward. No other header is forwarded, and `headers` sets none of them. @default [] */
  forwardHeaders?: readonly string[]
  /** Names of the client's query parameters to forward, repeated ones included. `path` sets none of them. @default [] */
  forwardQuery?: readonly string[]
  /** Forward the client's body byte by byte, with its `content-type`. @default false */
  forwardBody?: boolean
  /** Respond without this call if it fails, with `null` in its place. @default false */
  optional?: boolean
  /** Maximum duration of the call, all attempts included, in milliseconds. @default the endpoint's timeout */
  timeout?: number
  /** Maximum number of retries after a failure. For GET, PUT and DELETE. @default 0 */
  retries?: number
  /** Delay of a hedged (second) request in milliseconds, or `true` for twice the 95th percentile of response times. For GET. @default false */
  hedge?: boolean | number
  /** Statuses of the upstream, from 400 to 599, to use for the response if this required call fails. @default [] */
  forwardStatuses?: readonly number[]
  /** Maximum nesting of arrays and objects in the response. @default 64 */
  maxDepth?: number
  /** JSON Schema of the mapped response, for OpenAPI documents and for `validate`. @default none */
  schema?: Readonly<Record<string, unknown>>
  /** Fail the call if its mapped response does not match `schema`. @default false */
  validate?: boolean
  /** Second upstream that gets a copy of the call. Its responses are discarded. For GET. @default none */
  shadow?: ShadowOptions
  /** Make the call for each item of a list, such as `{calls.orders.items}`. The path has the item's values as `{item.id}`. For GET. @default none */
  forEach?: string | ForEachOptions
  /** Make the call only if these conditions on the request or on earlier responses hold, such as `{query.details}`. @default none */
  when?: Condition | readonly Condition[]
}
