// How many connections workers give away so that each has its share. A socket that many accept from is not fair to connections
// that stay: of sixteen that were opened at once one worker had all in four of fourteen cases.

/** How much a worker has to do. */
export interface Load {
  readonly connections: number
  /** The share of time in which its event loop had work. */
  readonly utilization: number
}

/** How many connections one worker may have more than another, also as a share of its own, before some are moved. */
export const UNEVEN = { connections: 8, share: 0.25 }
/** The utilization of two event loops from which on and up to which one has too much to do while the other has time. */
const OVERLOADED = { busy: 0.9, free: 0.75 }

/**
 * How many connections each worker is to give away, in the order of the workers, where what is given away goes to those with the
 * fewest: what it has beyond the mean, and of the one with the most half of what it has beyond the fewest, even few where that
 * has a core work that was free.
 */
export function surpluses(workers: readonly Load[]): number[] {
  const counts = workers.map(({ connections }) => connections)
  const mean = counts.reduce((sum, count) => sum + count, 0) / counts.length
  const fewest = workers[counts.indexOf(Math.min(...counts))]
  const most = workers[counts.indexOf(Math.max(...counts))]
  return workers.map((worker) => {
    const { connections, utilization } = worker
    const beyond = connections - fewest!.connections
    const isUneven = beyond > UNEVEN.connections && beyond > UNEVEN.share * connections
    const isFree = utilization > OVERLOADED.busy && fewest!.utilization < OVERLOADED.free
    const half = worker === most && (isUneven || isFree) ? Math.floor(beyond / 2) : 0
    return Math.max(half, isUneven ? Math.floor(connections - mean) : 0)
  })
}
