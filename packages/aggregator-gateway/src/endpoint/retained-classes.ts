// V8 holds hidden classes weakly. When a gateway idles, the garbage collector drops a class without objects, and with
// it the optimized code for it. One blank object of each class keeps it, without data of any request. See
// docs/measurements.md#idle-hidden-classes

import { executionAsyncResource } from 'node:async_hooks'
import { Aggregate, type PlannedEndpoint } from './endpoint-request.ts'
import { Attempt } from '../call/attempt.ts'
import { Call } from '../call/call.ts'
import { PooledRequest } from '../upstream/pool.ts'
import { keptController } from '../upstream/retained-controller.ts'
import { WaitingClient } from '../runtime/pending-reply.ts'

/** One object of each class that calls use. */
let kept: readonly unknown[] | undefined

/** An object that Node makes for each `process.nextTick`. */
let keptTick: unknown

/** Keeps the classes of all objects of requests, while the process lives. */
export function keepClasses(): void {
  kept ??= blanks()
  keepTickClass()
}

/** For a test that compares their classes with those of objects in use. */
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
 * Keeps one of the objects that `process.nextTick` queues. Once V8 has dropped their class, it makes them on a slow
 * path while the process lives: 1.9 µs of user CPU per request. See docs/measurements.md#idle-hidden-classes
 */
function keepTickClass(): void {
  process.nextTick(() => {
    keptTick ??= executionAsyncResource()
  })
}
