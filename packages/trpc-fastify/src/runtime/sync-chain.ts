/** Whether `await` would wait for a value. */
export function isThenable(value: unknown): value is PromiseLike<unknown> {
  if (value === null || (typeof value !== 'object' && typeof value !== 'function')) return false
  return typeof (value as { then?: unknown }).then === 'function'
}

/** Continues synchronously with a value, or later with the result of a promise. It saves the cost of `await`. */
export function chain<T, U>(value: T | PromiseLike<T>, next: (value: T) => U | PromiseLike<U>): U | Promise<U>
export function chain(value: unknown, next: (value: unknown) => unknown): unknown {
  // oxlint-disable-next-line promise/no-callback-in-promise -- `next` is the next step, not a callback of the caller's
  return isThenable(value) ? Promise.resolve(value).then(next) : next(value)
}
