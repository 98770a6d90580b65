import { setTimeout as sleep } from 'node:timers/promises'

/** Looks until there is something to see, for as long as the test has time. */
export async function eventually<T>(look: () => T | undefined | Promise<T | undefined>): Promise<T> {
  for (;;) {
    const seen = await look()
    if (seen !== undefined) return seen
    await sleep(20)
  }
}
