// Responses that become ready in one event-loop tick leave together. See docs/measurements.md#write-batching

import type { FastifyReply } from 'fastify'
import { BusyTick } from 'fastify-write-batching/busy-tick'

/** Counts the responses of all routers of this process: they leave by the same event loop. */
export const busyTick: BusyTick = new BusyTick()

/** Sends a response at the end of this tick. Fastify responds to an error as if the handler had thrown it. */
export function sendAtEndOfTick(reply: FastifyReply, send: () => unknown): void {
  setImmediate(() => {
    try {
      send()
    } catch (cause) {
      reply.send(cause)
    }
  })
}
