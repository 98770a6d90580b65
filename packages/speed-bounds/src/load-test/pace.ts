import type { Clock } from './clock.ts'

/**
 * Calls `send` for each intended time that has come, and resolves after the last one. After a delay, all requests that
 * are due are sent at once. Those that became due meanwhile wait until the connections have been handled.
 *
 * @param times milliseconds after `start`, in ascending order
 */
export function pace(
  times: Iterator<number, void>,
  start: number,
  clock: Clock,
  send: (intended: number) => void,
): Promise<void> {
  const { promise, resolve } = Promise.withResolvers<void>()
  let next = times.next()
  const step = (): void => {
    const now = clock.now()
    while (!next.done && start + next.value <= now) {
      send(start + next.value)
      next = times.next()
    }
    if (next.done) resolve()
    else clock.wakeAt(start + next.value, step)
  }
  step()
  return promise
}
