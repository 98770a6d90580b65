// V8 holds the hidden class of objects weakly: when a gateway idles and its garbage collector finds no object of a
// class, the class goes, and with it all optimized code that knows it. One object of each class is enough to keep it; a
// blank one, which holds nothing of any request.
// Measured on Node 24: after a minute without requests, the next 0.4 s cost 210 to 510 µs of user CPU per request without
// this, and 200 to 250 while the latest objects were kept whole. Blank ones keep a part of that.

import { executionAsyncResource } from 'node:async_hooks'
import { Aggregate, type PlannedEndpoint } from './aggregate.ts'
import { Attempt } from './attempt.ts'
import { Call } from './call.ts'
import { PooledRequest } from './connections.ts'
import { keptController } from './kept-controller.ts'
import { WaitingClient } from './waiting-client.ts'

/** One object of each class that a call makes. */
let kept: readonly unknown[] | undefined

/** What Node makes for each `process.nextTick`. */
let keptTick: unknown

/** Keeps the classes of the objects that requests make, for as long as the process lives. */
export function keepClasses(): void {
  kept ??= blanks()
  keepTickClass()
}

/** For a test, which compares their classes with those of objects in use. */
export function keptObjects(): readonly unknown[] {
  return [...(kept ?? []), keptController()]
}

function blanks(): readonly unknown[] {
  const nothing = undefined as never
  const plan = { calls: [] as const, retries: 0 } as unknown as PlannedEndpoint
  return [
    new Aggregate(plan, nothing),
    new Call(nothing, 0, plan as never, nothing),
    new Attempt(nothing, nothing),
    new PooledRequest(nothing, nothing, nothing, 0),
    new WaitingClient(nothing),
  ]
}

/**
 * Keeps one of the objects that `process.nextTick` queues. V8 drops the hidden class of objects of which there is none
 * left, after the first 8 s without requests, and makes these by a slow path from then on, for as long as the process
 * lives: 1.9 µs of user CPU for each request of a plain Fastify route (measured on Node 24).
 */
function keepTickClass(): void {
  process.nextTick(() => {
    keptTick ??= executionAsyncResource()
  })
}
