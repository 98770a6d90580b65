import { availableParallelism } from 'node:os'

/** How many cores this process may use. */
export function availableCores(): number {
  return availableParallelism()
}
