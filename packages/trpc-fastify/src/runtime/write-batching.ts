// Decides whether a response waits for the end of the event-loop tick, so that several are written together. That pays
// only if the last tick had several responses in quick succession: a lone client would get 10 % fewer. A pipelined
// response, which waits for an earlier one anyway, is never held back, because that costs CPU and memory. See
// docs/measurements.md#write-batching

import type { ServerResponse } from 'node:http'

/** Longest time per response of a tick for which write batching pays, in ms. See docs/measurements.md#write-batching */
const QUICK = 0.25

/** Responses of this tick so far, and when the first was ready. */
let answers = 0
let began = 0
let wasBusy = false

/** Counts a response that is ready, and returns whether to send it at the end of this tick. */
export function shouldBatchWrites({ socket }: Pick<ServerResponse, 'socket'>): boolean {
  // A pipelined response gets its socket once the earlier ones are sent.
  if (socket === null) return false
  if (answers++ === 0) {
    began = performance.now()
    setImmediate(endTurn)
  }
  return wasBusy
}

function endTurn(): void {
  wasBusy = answers > 1 && performance.now() - began < QUICK * answers
  answers = 0
}
