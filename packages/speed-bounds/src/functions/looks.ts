/** Processes of each function before the first look at the data. With fewer, their spread says too little. */
const FIRST = 3

/**
 * Processes of each function at each look at the data. Each look doubles them, so that few looks share alpha: a clear claim
 * ends after 3 processes, a close one has the power of many.
 */
export function looksOf(replicas: number): number[] {
  const looks: number[] = []
  for (let count = FIRST; count < replicas; count *= 2) looks.push(count)
  return [...looks, replicas]
}
