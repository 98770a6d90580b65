// All in which the two adapters may differ, each with its reason. Nothing else in this directory loosens a comparison.

import type { Sighting } from './recorder.ts'

/**
 * The official adapter sends a stream in chunks, this one a string of known length; `date` is the clock's.
 */
const FRAMING = ['content-length', 'transfer-encoding', 'date']

export function withoutFraming(headers: Readonly<Record<string, unknown>>): Record<string, unknown> {
  return Object.fromEntries(Object.entries(headers).filter(([name]) => !FRAMING.includes(name)))
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

/** The frames of a stack trace are of the adapter's own code: its first line is all that can be equal. */
export function withoutFrames(stack: string): string {
  return stack.split('\n')[0]!
}

/** With `isDev`, answers carry stack traces. */
export function bodyWithoutFrames(body: string): string {
  return body.replaceAll(/"stack":("(?:[^"\\]|\\.)*")/g, (_, stack: string) => {
    return `"stack":${JSON.stringify(withoutFrames(JSON.parse(stack) as string))}`
  })
}

/**
 * The official adapter sends a `Response`, which gives the reply its status and headers after the `onSend`
 * hooks; here they are there before, and the payload is text. So a header that a hook sets too is the
 * hook's here and the answer's there, cookies of hooks come first there, and what a hook throws is answered
 * without the headers of the answer there.
 */
export const HOOKS_SEE_THE_ANSWER: readonly string[] = ['onSendThrowing', 'onSendOverriding', 'onSendSeveral']

/**
 * A procedure that answers by `reply.send()` and returns all the same: where hooks are asynchronous, its own
 * answer goes out first in the official adapter, whose answer comes some promises later; here it may come at once.
 */
export const TWO_ANSWERS_RACE: readonly string[] = ['preSerialization']
