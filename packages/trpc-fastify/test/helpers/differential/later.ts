// Values that come later than this package waits for what is there at once.

import { setImmediate as turn } from 'node:timers/promises'

/** Longer than this package waits. */
export async function someTurns(): Promise<void> {
  for (let count = 0; count < 3; count++) await turn()
}

export async function later<T>(value: T): Promise<T> {
  await someTurns()
  return value
}

export async function rejectedLater(cause: unknown): Promise<never> {
  await someTurns()
  throw cause
}

export async function* generated(...values: readonly unknown[]): AsyncGenerator {
  for (const value of values) yield value
}

/** An iterator that is no generator. */
export const iterable = (next: () => unknown, more: object = {}): object => ({
  [Symbol.asyncIterator]: () => ({ next, ...more }),
})
