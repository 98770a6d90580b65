// Decides whether a response waits for the end of the event-loop tick, so that several are written together. That pays
// only if the last tick had several responses in quick succession: a lone client would get 10 % fewer. A pipelined
// response, which waits for an earlier one anyway, is never held back, because that costs CPU and memory. See
// docs/measurements.md#write-batching

import type { ServerResponse } from 'node:http'
import { setImmediate as endOfTick } from 'node:timers/promises'

/** Longest time per response of a tick for which write batching pays, in ms. See docs/measurements.md#write-batching */
const MAX_TIME_PER_RESPONSE = 0.25

/** Responses of this tick so far, and when the first was ready. */
let responses = 0
let began = 0
let wasBusy = false
/** One promise for all responses of a tick. */
let end: Promise<void> | undefined

/** Counts a response that is ready, and returns the end of this tick if it must wait for it. */
export function endOfBusyTick({ socket }: Pick<ServerResponse, 'socket'>): Promise<void> | undefined {
  // A pipelined response gets its socket once the earlier ones are sent.
  if (socket === null) return undefined
  if (responses++ === 0) {
    began = performance.now()
    setImmediate(endTick)
  }
  return wasBusy ? (end ??= endOfTick()) : undefined
}

function endTick(): void {
  wasBusy = responses > 1 && performance.now() - began < MAX_TIME_PER_RESPONSE * responses
  responses = 0
  end = undefined
}
