/** Whether `await` would wait for it. */
export function isThenable(value: unknown): value is PromiseLike<unknown> {
  if (value === null || (typeof value !== 'object' && typeof value !== 'function')) return false
  return typeof (value as { then?: unknown }).then === 'function'
}

/** Goes on with what is there at once, or as soon as it comes: `await` without its costs where nothing is awaited. */
export function chain<T, U>(value: T | PromiseLike<T>, next: (value: T) => U | PromiseLike<U>): U | Promise<U>
export function chain(value: unknown, next: (value: unknown) => unknown): unknown {
  // oxlint-disable-next-line promise/no-callback-in-promise -- `next` is the next step, not a callback of the caller's
  return isThenable(value) ? Promise.resolve(value).then(next) : next(value)
}
