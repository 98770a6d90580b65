// What Next's router sets for an answer between the proxy and rendering. It looks for the page again each time, which takes
// as long as the proxy itself, and finds the same as long as it is asked the same.

import type { ServerResponse } from 'node:http'
import type { Additions } from './watch-renders.ts'
import { headersSince, pairsOf } from '../recorder.ts'

type Header = readonly [name: string, value: string]

/** What the router sets where the proxy has added headers of these names. */
export interface Passage {
  readonly added: string
  /** Headers in their order, each with its value, or with none where that is what the proxy has added. */
  readonly headers: readonly (readonly [name: string, value: string | undefined])[]
}

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
  const headers = Array.from(set, ([lower, [name, value]]) => {
    return [name, Object.hasOwn(additions, lower) ? undefined : value] as const
  })
  return { added: namesOf(additions), headers }
}

/** How many passages of one request are remembered: a proxy may add other headers each time. */
const MOST_PASSAGES = 4

/** The passages of a request with one more, which comes first. */
export function withPassage(passages: readonly Passage[], passage: Passage): readonly Passage[] {
  const others = passages.filter(({ added }) => added !== passage.added)
  return [passage, ...others.slice(0, MOST_PASSAGES - 1)]
}

/** The headers for an answer of which the proxy has added these; nothing where that is not known, or one is not set. */
export function headersOf(passages: readonly Passage[], additions: Additions): readonly Header[] | undefined {
  const added = namesOf(additions)
  const passage = passages.find((known) => known.added === added)
  if (passage === undefined) return undefined
  const headers = passage.headers.map(([name, value]) => [name, value ?? additions[name.toLowerCase()] ?? ''] as const)
  return headers.every(([, value]) => value !== '') ? headers : undefined
}

function namesOf(additions: Additions): string {
  return Object.keys(additions).join(' ')
}
