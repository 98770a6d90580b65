// Decides whether a response waits for the end of the event-loop tick, so that several are written together. That pays
// only if the last tick had several responses in quick succession: a lone client would get 10 % fewer. A pipelined
// response, which waits for an earlier one anyway, is never held back, because that costs CPU and memory. See
// docs/measurements.md#write-batching

import type { ServerResponse } from 'node:http'

/** Maximum time per response of a tick for which write batching pays, in ms. See docs/measurements.md#write-batching */
const MAX_TIME_PER_RESPONSE = 0.25

/** Responses of this tick so far, and when the first was ready. */
let responses = 0
let startedAt = 0
let wasBusy = false

/** Counts a response that is ready, and returns whether to send it at the end of this tick. */
export function shouldBatchWrites({ socket }: Pick<ServerResponse, 'socket'>): boolean {
  // A pipelined response gets its socket once the earlier ones are sent.
  if (socket === null) return false
  if (responses++ === 0) {
    startedAt = performance.now()
    setImmediate(endTick)
  }
  return wasBusy
}

function endTick(): void {
  wasBusy = responses > 1 && performance.now() - startedAt < MAX_TIME_PER_RESPONSE * responses
  responses = 0
}
