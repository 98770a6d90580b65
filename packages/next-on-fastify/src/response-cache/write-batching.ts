// Decides whether a response waits for the end of the event-loop tick, so that several are written together. That pays
// only if the last tick had several responses in quick succession: a lone client would get 10 % fewer. A pipelined
// response, which waits for an earlier one anyway, is never held back, because that costs CPU and memory. See
// docs/measurements.md#write-batching

import type { ServerResponse } from 'node:http'
import { setImmediate as endOfTurn } from 'node:timers/promises'

/** Longest time per response of a tick for which write batching pays, in ms. See docs/measurements.md#write-batching */
const QUICK = 0.25

/** Responses of this tick so far, and when the first was ready. */
let answers = 0
let began = 0
let wasBusy = false
/** One promise for all responses of a tick. */
let end: Promise<void> | undefined

/** Counts a response that is ready, and returns the end of this tick if it is to be sent then. */
export function endOfBusyTurn({ socket }: Pick<ServerResponse, 'socket'>): Promise<void> | undefined {
  // A pipelined response gets its socket once the earlier ones are sent.
  if (socket === null) return undefined
  if (answers++ === 0) {
    began = performance.now()
    setImmediate(endTurn)
  }
  return wasBusy ? (end ??= endOfTurn()) : undefined
}

function endTurn(): void {
  wasBusy = answers > 1 && performance.now() - began < QUICK * answers
  answers = 0
  end = undefined
}
