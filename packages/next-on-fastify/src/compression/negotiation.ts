// Chooses the content encoding of a response by `Accept-Encoding`, as RFC 9110 (section 12.5.3) defines it.

import { LRUCache } from 'lru-cache'

/** Content encodings by which responses are compressed. */
export type Encoding = 'br' | 'deflate' | 'gzip' | 'zstd'

/** Returns the encoding for an `Accept-Encoding` header. Undefined for a response without one. */
export type Negotiate = (accepted: string | undefined) => Encoding | undefined

/** The encodings of an app's responses. */
export interface NegotiatedEncodings {
  /** The encodings that clients get, the preferred one first. */
  readonly encodings: readonly Encoding[]
  readonly negotiate: Negotiate
}

/** Browsers send few different headers. Others are long enough to be made up. */
const CACHED = { headers: 100, characters: 100 } as const

/**
 * Returns the function that chooses one of the given encodings, of which the first is preferred among those with the same
 * weight.
 */
export function negotiation(encodings: readonly Encoding[]): Negotiate {
  const known = new LRUCache<string, { readonly encoding: Encoding | undefined }>({ max: CACHED.headers })
  return (accepted) => {
    if (accepted === undefined || accepted === '') return undefined
    const found = known.get(accepted)
    if (found !== undefined) return found.encoding
    const encoding = chosen(encodings, weightsOf(accepted))
    if (accepted.length <= CACHED.characters) known.set(accepted, { encoding })
    return encoding
  }
}

type Weights = ReadonlyMap<string, number>

function chosen(encodings: readonly Encoding[], weights: Weights): Encoding | undefined {
  let best: Encoding | undefined
  let highest = 0
  for (const encoding of encodings) {
    const weight = weights.get(encoding) ?? weights.get('*') ?? 0
    if (weight > highest) [best, highest] = [encoding, weight]
  }
  // Without a weight of its own, `identity` comes last.
  return (weights.get('identity') ?? 0) > highest ? undefined : best
}

function weightsOf(accepted: string): Weights {
  const weights = new Map<string, number>()
  for (const part of accepted.toLowerCase().split(',')) {
    const [name = '', ...parameters] = part.split(';')
    const weight = parameters.map((parameter) => parameter.trim()).find((parameter) => parameter.startsWith('q='))
    weights.set(name.trim(), weight === undefined ? 1 : weightOf(weight.slice('q='.length)))
  }
  return weights
}

/** An invalid weight counts as a refusal. */
function weightOf(text: string): number {
  const weight = Number(text)
  return weight > 0 && weight <= 1 ? weight : 0
}
