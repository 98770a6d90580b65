import { BusyTick } from 'fastify-write-batching/busy-tick'

/** Counts the responses of all routers of this process: they leave by the same event loop. */
export const busyTick: BusyTick = new BusyTick()
