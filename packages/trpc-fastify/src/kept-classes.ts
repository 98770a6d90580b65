// V8 holds the hidden class of objects weakly. When a server idles and its garbage collector finds no object of a class, the
// class goes, and with it the optimized code that knows it. One object of each class keeps it. These are blank: they hold
// nothing of a request.

import { executionAsyncResource } from 'node:async_hooks'

const kept: unknown[] = []

/** Keeps the hidden class of an object that was made as those of requests are, from values of no request. */
export function keepClass(blank: object): void {
  kept.push(blank)
}

/** Objects by which hidden classes are kept, for tests to compare. */
export const keptClasses: readonly unknown[] = kept

let hasTickClass = false

/**
 * Keeps the class of what `process.nextTick` queues, which has computed keys: once its class is gone, V8 makes each
 * further one by a slow path, for as long as the process lives, in every server of Node.
 */
export function keepTickClass(): void {
  if (hasTickClass) return
  hasTickClass = true
  process.nextTick(() => void kept.push(executionAsyncResource()))
}
