// Access to undocumented parts of Next. A feature stays off if a part is missing or has another type.

import type { ParsedUrlQuery } from 'node:querystring'

/** Thrown if a feature must stay off, with the reason. */
export class UnsupportedNextError extends Error {}

export type Params = Readonly<Record<string, string | readonly string[] | undefined>>

/** A route and the parameters of a path, in newer versions of Next. */
export interface RouteMatch {
  readonly definition: {
    readonly kind: unknown
    readonly page: unknown
    readonly pathname: unknown
    readonly filename?: unknown
  }
  readonly params: Params | undefined
}

/** The used parts of the metadata that Next attaches to a request. */
export interface RequestMeta {
  readonly invokePath?: unknown
  readonly invokeOutput?: unknown
  readonly invokeQuery?: ParsedUrlQuery
  readonly invokeStatus?: unknown
  readonly middlewareInvoke?: unknown
  readonly relativeProjectDir?: string | undefined
  readonly match?: RouteMatch | undefined
}

/** A function of a module or a server of Next. */
export function functionOf(owner: Readonly<Record<string, unknown>> | undefined, name: string): SomeFunction {
  const found = owner?.[name]
  if (typeof found !== 'function') throw new UnsupportedNextError(`its Next has no function "${name}"`)
  return found as SomeFunction
}

type SomeFunction = (...args: unknown[]) => unknown
