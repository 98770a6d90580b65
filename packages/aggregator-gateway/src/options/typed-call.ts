// Types of calls, for `compose` functions.

import type { CallOptions } from './call-options.ts'

/** The type of a call's value. No call has such a member. */
declare const VALUE: unique symbol

/** A call whose value has a type. */
export interface TypedCall<Value> extends CallOptions {
  readonly [VALUE]?: Value
}

/** The type of a call's value in `compose`. */
export type CallValue<Call> = Call extends { readonly [VALUE]?: infer Value } ? Value : unknown

/** The JSON of a 200 in `paths`, as `openapi-typescript` makes them of an OpenAPI document. */
export type OpenApiResponse<Paths, Path extends keyof Paths, Method extends string = 'get'> =
  Paths[Path] extends Readonly<
    Record<
      Method,
      { readonly responses: { readonly 200: { readonly content: { readonly 'application/json': infer Body } } } }
    >
  >
    ? Body
    : never

type Always = CallOptions & { optional?: false; when?: never; forEach?: never }
type Each = CallOptions & Required<Pick<CallOptions, 'forEach'>>

/**
 * Gives the value of a call a type for `compose`. The value may be `null` if the call is optional or has conditions, and is
 * an array if it has `forEach`. Types check nothing at run time: set `validate`, too.
 *
 * @example
 * const profile = typedCall<OpenApiResponse<paths, '/users/{id}'>>({ upstream: 'users', path: '/users/{params.id}' })
 */
export function typedCall<Value>(call: Always): TypedCall<Value>
export function typedCall<Value>(call: Each): TypedCall<(Value | null)[] | null>
export function typedCall<Value>(call: CallOptions): TypedCall<Value | null>
export function typedCall(call: CallOptions): CallOptions {
  return call
}
