// Headers that Next's router sets between middleware and rendering. Its lookup of the page takes as long as middleware
// itself, and always sets the same headers for the same request.

import type { ServerResponse } from 'node:http'
import { headersSince, pairsOf } from '../response-headers.ts'
import type { AddedHeaders } from '../../next/middleware/render-hook.ts'

type Header = readonly [name: string, value: string]

/** The headers that the router sets after middleware has added headers with these names. */
export interface RouterHeaders {
  readonly addedNames: string
  /** Headers in order. The value is undefined if it is the one that middleware has added. */
  readonly headers: readonly (readonly [name: string, value: string | undefined])[]
}

/**
 * The headers that the router has set, or undefined if they may differ for another request.
 *
 * @param before - headers before Next, by lower-case name
 */
export function routerHeadersOf(
  response: ServerResponse,
  before: ReadonlyMap<string, string>,
  added: AddedHeaders,
): RouterHeaders | undefined {
  const head = headersSince(response, before)
  if (head === undefined) return undefined
  const set = new Map(pairsOf(head).map((pair) => [pair[0].toLowerCase(), pair] as const))
  const isComplete = Object.entries(added).every(([name, value]) => value !== '' && set.get(name)?.[1] === value)
  // A header with two values has two pairs.
  if (!isComplete || set.size !== head.length / 2) return undefined
  const headers = Array.from(set, ([lower, [name, value]]) => {
    return [name, Object.hasOwn(added, lower) ? undefined : value] as const
  })
  return { addedNames: namesOf(added), headers }
}

/** Maximum variants per request. Middleware may add different headers each time. */
const MAX_VARIANTS = 4

/** Puts a variant first. */
export function addRouterHeaders(variants: readonly RouterHeaders[], added: RouterHeaders): readonly RouterHeaders[] {
  const others = variants.filter(({ addedNames }) => addedNames !== added.addedNames)
  return [added, ...others.slice(0, MAX_VARIANTS - 1)]
}

/** The headers of a response to which middleware has added these. Undefined if they are unknown. */
export function headersFor(variants: readonly RouterHeaders[], added: AddedHeaders): readonly Header[] | undefined {
  const names = namesOf(added)
  const variant = variants.find(({ addedNames }) => addedNames === names)
  if (variant === undefined) return undefined
  const headers = variant.headers.map(([name, value]) => [name, value ?? added[name.toLowerCase()] ?? ''] as const)
  return headers.every(([, value]) => value !== '') ? headers : undefined
}

function namesOf(added: AddedHeaders): string {
  return Object.keys(added).join(' ')
}
