// How what Next does not document is read: it is there and of the kind that is expected, or that way into Next is not taken.

import type { ParsedUrlQuery } from 'node:querystring'

/** Thrown where a way into Next is not taken. */
export class NotDirect extends Error {}

export type Params = Readonly<Record<string, string | readonly string[] | undefined>>

/** A route and what it makes of a path, as newer versions of Next have it. */
export interface RouteMatch {
  readonly definition: {
    readonly kind: unknown
    readonly page: unknown
    readonly pathname: unknown
    readonly filename?: unknown
  }
  readonly params: Params | undefined
}

/** What Next keeps on a request, as far as it is used here. */
export interface RequestMeta {
  readonly invokePath?: unknown
  readonly invokeOutput?: unknown
  readonly invokeQuery?: ParsedUrlQuery
  readonly invokeStatus?: unknown
  readonly middlewareInvoke?: unknown
  readonly relativeProjectDir?: string | undefined
  readonly match?: RouteMatch | undefined
}

/** A function that a module or a server of Next's has. */
export function functionOf(owner: Readonly<Record<string, unknown>> | undefined, name: string): SomeFunction {
  const found = owner?.[name]
  if (typeof found !== 'function') throw new NotDirect(`its Next has no \`${name}\` where it is looked for`)
  return found as SomeFunction
}

type SomeFunction = (...args: unknown[]) => unknown
