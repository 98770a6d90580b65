// V8 holds hidden classes weakly. When a gateway idles, the garbage collector drops a class without objects, and with
// it the optimized code for it. One blank object of each class retains it, without data of any request. See
// docs/measurements.md#idle-hidden-classes

import { executionAsyncResource } from 'node:async_hooks'
import { Attempt } from '../call/attempt.ts'
import { Call } from '../call/call.ts'
import { PendingReply } from '../runtime/pending-reply.ts'
import { PooledRequest } from '../upstream/pool.ts'
import { retainedController } from '../upstream/retained-controller.ts'
import { EndpointRequest } from './endpoint-request.ts'

/** One object of each class that requests use. An inner object retains its class, too. */
let retained: readonly unknown[] | undefined

/** An object that Node makes for each `process.nextTick`. */
let retainedTick: unknown

/** Retains the classes of all objects of requests, while the process lives. */
export function retainClasses(): void {
  retained ??= blanks()
  retainTickShape()
}

/** For a test that compares their classes with those of objects in use. */
export function retainedObjects(): readonly unknown[] {
  return [...(retained ?? []), retainedController()]
}

function blanks(): readonly unknown[] {
  const nothing = undefined as never
  const plan = { calls: [], retries: 0, timeout: 0, upstream: {} } as never
  return [
    new EndpointRequest(plan, nothing),
    new Call(nothing, 0, plan, nothing),
    new Attempt(nothing, plan),
    new PooledRequest(nothing, nothing, nothing, 0),
    new PendingReply(nothing),
  ]
}

/**
 * Retains one of the objects that `process.nextTick` queues. Once V8 has dropped their class, it makes them on a slow
 * path while the process lives: 1.9 µs of user CPU per request. See docs/measurements.md#idle-hidden-classes
 */
function retainTickShape(): void {
  process.nextTick(() => {
    retainedTick ??= executionAsyncResource()
  })
}
