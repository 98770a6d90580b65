// All in which the two adapters may differ, each with its reason. Nothing else in this directory loosens a comparison.

import type { Transport } from './over-http2.ts'
import type { Sighting } from './recorder.ts'

/**
 * The official adapter sends a stream in chunks, this one a string of known length; `date` is the clock's.
 */
const FRAMING = ['content-length', 'transfer-encoding', 'date']

export function withoutFraming(headers: Readonly<Record<string, unknown>>): Record<string, unknown> {
  return Object.fromEntries(Object.entries(headers).filter(([name]) => !FRAMING.includes(name)))
}

/** HTTP/2 has no headers about the connection. */
export function withoutConnection(
  headers: Readonly<Record<string, unknown>>,
  transport: Transport,
): Record<string, unknown> {
  if (transport === 'inject') return { ...headers }
  const { connection: _, 'keep-alive': __, ...others } = headers
  return others
}

/** What the code of the user sees of a URL; the official adapter is asked in clear text. */
export function withoutScheme(sightings: unknown, transport: Transport): unknown {
  if (transport !== 'h2') return sightings
  return JSON.parse(JSON.stringify(sightings).replaceAll('https://', 'http://')) as unknown
}

/**
 * Calls of one batch run side by side: the official adapter interleaves their steps by how many promises
 * lie between them, this one passes on at once what is there at once. What each call sees is the same, in
 * the same order, and so is what the request as a whole sees; `onError` does not tell its call.
 */
export function withoutOrderBetweenCalls(sightings: readonly Sighting[]): unknown {
  const errors = sightings.filter(({ what }) => what === 'onError')
  const others = sightings.filter(({ what }) => what !== 'onError')
  const calls = Object.groupBy(others, ({ call }) => call ?? 'request')
  return { calls, errors: errors.map((error) => JSON.stringify(error)).toSorted() }
}

/**
 * The same for streamed batches, where the shapes of errors are made as the calls fail. Of which call an
 * `onError` or an `errorFormatter` tells is not known, only whether it came before or after what the request
 * as a whole saw. How often a transformer is asked is a matter of lines, of which there are fewer here.
 */
export function withoutOrderOfAStream(sightings: readonly Sighting[]): unknown {
  const ofErrors = ['onError', 'errorFormatter']
  const calls = Object.groupBy(
    sightings.filter(({ call }) => call !== undefined),
    ({ call }) => call!,
  )
  const request: { what: string; value: unknown; errorsBefore: readonly string[] }[] = []
  let errors: string[] = []
  for (const { what, value, call } of sightings) {
    if (call !== undefined || what === 'serialize') continue
    if (ofErrors.includes(what)) {
      errors.push(JSON.stringify({ what, value: sorted(value) }))
      continue
    }
    request.push({ what, value, errorsBefore: errors.toSorted() })
    errors = []
  }
  return { calls, request, errors: errors.toSorted() }
}

/** With its keys in an order that does not depend on who wrote it. */
function sorted(value: unknown): unknown {
  if (Array.isArray(value)) return value.map(sorted)
  if (typeof value !== 'object' || value === null) return value
  const entries = Object.entries(value).map(([key, part]) => [key, sorted(part)] as const)
  return Object.fromEntries(entries.toSorted(([one], [other]) => (one < other ? -1 : 1)))
}

/**
 * What no line can tell of, a streamed batch of the official adapter ends with its connection: error
 * formatters and `onError` that fail for each error, and what cannot be serialized. Here, a result that cannot
 * be serialized fails its call alone, of which `onError` is told, and the rest is answered with 500 as long as
 * nothing is sent.
 */
export const BREAKS_STREAMS_OFF: Readonly<
  Record<'formatters' | 'onError' | 'results' | 'transformers', readonly string[]>
> = {
  formatters: ['bigint', 'throwing', 'throwingTRPC', 'throwingForCalls'],
  onError: ['throwing', 'throwingTRPC', 'throwingString'],
  results: ['bigint', 'bigintInside', 'circular', 'throwingToJSON', 'toJSONThrowingString'],
  transformers: ['throwingSerialize', 'throwingSerializeOfResults'],
}

/**
 * Of a result whose `toJSON` gives nothing, clients get nothing, as in answers that are not streamed; the
 * official adapter streams `null`.
 */
export const STREAMED_AS_NULL: readonly string[] = ['toJSONUndefined']

/**
 * Statuses that no answer can have: the official adapter finds it when it has begun with the lines of a
 * streamed batch, and has asked for the shapes of errors that then nobody sees.
 */
export const FOUND_AFTER_THE_SHAPES: readonly string[] = [
  ...[99, 101, 199, 204, 205, 304, 600, 700, -1].map((status) => `status ${status}`),
  'statusText',
  'badStatusAtFirst',
]

/**
 * Of the calls of a streamed batch whose `responseMeta` throws, `onError` is told in the same tick, but after
 * the answer where that is Fastify's.
 */
export const SEE_ERRORS_OF_CALLS_FIRST: readonly string[] = ['onResponse', 'onError']

/**
 * A procedure that responds by `reply.send()` and returns all the same: where hooks are asynchronous, its own response goes
 * out first in the official adapter, whose response comes some promises later; here it may come at once. Where the hook
 * fails both, Fastify 5.0.0 has an unhandled rejection with either adapter.
 */
export const TWO_RESPONSES_RACE: Readonly<Record<string, readonly string[]>> = {
  onSendSeveral: ['/trpc/touching.sent'],
  onSendThrowing: ['/trpc/touching.sent', '/trpc/touchingLater.sent'],
  preSerialization: ['/trpc/touching.sent'],
}

/** A stream whose response a hook fails goes on without a reader there, and tells of errors; here it ends. */
export const HOOKS_FAIL_STREAMS: readonly string[] = ['onSendThrowing', 'onRequestBeforeThrowing']
