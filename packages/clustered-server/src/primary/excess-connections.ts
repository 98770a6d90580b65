// Several processes that accept from one socket do not share kept-alive connections evenly: of sixteen connections opened
// at once, one worker had all in four of fourteen runs.

/** Load of a worker. */
export interface Load {
  readonly connections: number
  /** Event loop utilization, from 0 to 1. */
  readonly utilization: number
}

/**
 * Unless a worker is overloaded, connections move only if it leads the least loaded by more than both: this number, and
 * this share of its own.
 */
const MAX_LEAD = { connections: 8, share: 0.25 }
/** Event loop utilization above which a worker is overloaded, and below which another has free capacity. */
const OVERLOADED = { busy: 0.9, free: 0.75 }

/**
 * Returns how many connections each worker has to hand over to the least loaded ones: everything above the mean. The most
 * loaded worker hands over at least half of its lead, even a small one if it is overloaded and another is not.
 */
export function excessConnections(workers: readonly Load[]): number[] {
  const counts = workers.map(({ connections }) => connections)
  const mean = counts.reduce((sum, count) => sum + count, 0) / counts.length
  const least = workers[counts.indexOf(Math.min(...counts))]
  const most = workers[counts.indexOf(Math.max(...counts))]
  return workers.map((worker) => {
    const { connections, utilization } = worker
    const lead = connections - least!.connections
    const isUneven = lead > MAX_LEAD.connections && lead > MAX_LEAD.share * connections
    const isOverloaded = utilization > OVERLOADED.busy && least!.utilization < OVERLOADED.free
    const half = worker === most && (isUneven || isOverloaded) ? Math.floor(lead / 2) : 0
    return Math.max(half, isUneven ? Math.floor(connections - mean) : 0)
  })
}
