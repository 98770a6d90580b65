// What Next's router sets for an answer between the proxy and rendering. It looks for the page again each time, which takes
// as long as the proxy itself, and finds the same as long as it is asked the same.

import type { ServerResponse } from 'node:http'
import type { Additions } from './after-proxy.ts'
import { headersSince, pairsOf } from './recorded-answer.ts'

/** Headers in their order, each with its value, or with none where that is what the proxy has added. */
export type Passage = readonly (readonly [name: string, value: string | undefined])[]

/**
 * Tells what the router has set, or nothing where what it sets another time may not be told by that.
 *
 * @param before - what was there before Next was asked, by names in lower case
 */
export function passageOf(
  response: ServerResponse,
  before: ReadonlyMap<string, string>,
  additions: Additions,
): Passage | undefined {
  const head = headersSince(response, before)
  if (head === undefined) return undefined
  const set = new Map(pairsOf(head).map((pair) => [pair[0].toLowerCase(), pair] as const))
  const isWhole = Object.entries(additions).every(([name, value]) => value !== '' && set.get(name)?.[1] === value)
  // A header with two values has two pairs.
  if (!isWhole || set.size !== head.length / 2) return undefined
  return Array.from(set, ([lower, [name, value]]) => [name, Object.hasOwn(additions, lower) ? undefined : value])
}

/** The headers for an answer of which the proxy has added these; nothing where one of them has no value, which is not set. */
export function headersOf(
  passage: Passage,
  additions: Additions,
): (readonly [name: string, value: string])[] | undefined {
  const headers = passage.map(([name, value]) => [name, value ?? additions[name.toLowerCase()] ?? ''] as const)
  return headers.every(([, value]) => value !== '') ? headers : undefined
}
