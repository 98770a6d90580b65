// V8 holds hidden classes weakly. When a server idles, the garbage collector drops a class without objects, and with it
// the optimized code for it. One blank object of each class retains it, without data of any request. See
// docs/measurements.md#idle-hidden-classes

import { executionAsyncResource } from 'node:async_hooks'

const retained: unknown[] = []

/** Retains the hidden class of an object, which must be created like the objects of requests. */
export function retainClass(blank: object): void {
  retained.push(blank)
}

/** Objects that retain hidden classes, for tests to compare. */
export const retainedClasses: readonly unknown[] = retained

let hasTickClass = false

/**
 * Retains the class of the objects that `process.nextTick` queues. They have computed keys: once V8 has dropped their
 * class, it makes further ones on a slow path while the process lives. This costs any Node server 1.7 µs per request.
 * See docs/measurements.md#idle-hidden-classes
 */
export function retainTickClass(): void {
  if (hasTickClass) return
  hasTickClass = true
  process.nextTick(() => void retained.push(executionAsyncResource()))
}
