// CPU and memory of a process and its descendants. Linux is read from /proc/<pid>/task/<tid>/schedstat: it has
// nanoseconds of CPU, and the time that a thread was ready but had no core. Run and wait time together are the time
// with work. /proc/<pid>/stat counts in steps of 10 ms, too coarse for a round. pidtree and pidusage read other systems.

import pidtree from 'pidtree'
import pidusage from 'pidusage'
import { canReadProc, listDirectory, readText, TICK } from './proc-files.ts'
import { procTree } from './process-tree.ts'

/** One reading of a process tree. */
export interface TreeReading {
  /** performance.now() */
  readonly at: number
  /** Per thread (per process where threads can't be seen), in milliseconds. */
  readonly threads: ReadonlyMap<string, { readonly run: number; readonly wait: number }>
  /** CPU time with that of reaped children, in milliseconds, in steps of 10. */
  readonly coarse: number
  /** Resident memory in bytes. */
  readonly rss: number
  /** Peak resident memory in bytes, as each process reports it. */
  readonly peakRss: number
}

/** The use of a tree between two readings. */
export interface TreeUse {
  /** CPU time in milliseconds. */
  readonly cpu: number
  /** Time in which the busiest thread had work, in milliseconds. Close to the whole time, it is the bottleneck. */
  readonly busiest: number
}

/** User and system time of a process are both rounded down to ticks. */
const COARSE_ERROR = 2 * TICK

export async function readTree(root: number): Promise<TreeReading> {
  return canReadProc ? readProcTree(root) : readPortableTree(root)
}

export function useBetween(before: TreeReading, after: TreeReading): TreeUse {
  let cpu = 0
  let busiest = 0
  for (const [id, { run, wait }] of after.threads) {
    const from = before.threads.get(id) ?? { run: 0, wait: 0 }
    cpu += run - from.run
    busiest = Math.max(busiest, run + wait - from.run - from.wait)
  }
  // The nanoseconds of an ended thread are gone, and a short-lived child was never seen. The ticks of the process, or of
  // the parent that reaped it, contain both.
  const ended = [...before.threads.keys()].some((id) => !after.threads.has(id))
  const processes = new Set([...after.threads.keys()].map((id) => id.split('/', 1)[0]))
  const unseen = after.coarse - before.coarse - cpu
  if (unseen > 0 && (ended || unseen > processes.size * COARSE_ERROR)) cpu += unseen
  return { cpu, busiest }
}

function readProcTree(root: number): TreeReading {
  const threads = new Map<string, { run: number; wait: number }>()
  let coarse = 0
  let rss = 0
  let peakRss = 0
  const at = performance.now()
  for (const { pid, ticks } of procTree(root)) {
    for (const thread of listDirectory(`/proc/${pid}/task`)) {
      const [run, wait] = (readText(`/proc/${pid}/task/${thread}/schedstat`) ?? '').split(' ').map(Number)
      if (run !== undefined && wait !== undefined) threads.set(`${pid}/${thread}`, { run: run / 1e6, wait: wait / 1e6 })
    }
    const status = readText(`/proc/${pid}/status`) ?? ''
    rss += kilobytes(status, 'VmRSS')
    peakRss += kilobytes(status, 'VmHWM')
    coarse += ticks * TICK
  }
  return { at, threads, coarse, rss, peakRss }
}

function kilobytes(status: string, field: string): number {
  return Number(new RegExp(`^${field}:\\s+(\\d+)`, 'm').exec(status)?.[1] ?? 0) * 1024
}

/** The reading for macOS and Windows, exported so that a test can compare it with /proc. */
export async function readPortableTree(root: number): Promise<TreeReading> {
  const pids = await pidtree(root, { root: true }).catch(() => [])
  const at = performance.now()
  const stats = Object.entries(await pidusage(pids).catch(() => ({})))
  const cpu = new Map(stats.map(([pid, { ctime }]) => [pid, { run: ctime, wait: 0 }]))
  const rss = stats.reduce((sum, [, { memory }]) => sum + memory, 0)
  return { at, threads: cpu, coarse: stats.reduce((sum, [, { ctime }]) => sum + ctime, 0), rss, peakRss: rss }
}
