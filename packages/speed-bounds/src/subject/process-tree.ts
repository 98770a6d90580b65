// CPU and memory of a process and all that it started, from the operating system.
//
// Linux is read directly, because only /proc/<pid>/task/<tid>/schedstat has what a 200 ms round
// needs: CPU time in nanoseconds (/proc/<pid>/stat counts in steps of 10 ms), and the time that a
// thread was ready but had no core, so that "run + wait" is the share of time in which its event
// loop had work. Elsewhere pidtree and pidusage read what they can.

import { readdirSync, readFileSync } from 'node:fs'
import { cpus } from 'node:os'
import pidtree from 'pidtree'
import pidusage from 'pidusage'

/** One look at a process tree. */
export interface TreeReading {
  /** performance.now() */
  readonly at: number
  /** Per thread (per process where threads can't be seen), in milliseconds. */
  readonly threads: ReadonlyMap<string, { readonly run: number; readonly wait: number }>
  /** CPU time with that of reaped children, in milliseconds, in steps of 10. */
  readonly coarse: number
  /** Resident memory in bytes. */
  readonly rss: number
  /** The most that was resident, in bytes, as each process reports it. */
  readonly peakRss: number
}

/** What a tree used between two readings. */
export interface TreeUse {
  /** CPU time in milliseconds. */
  readonly cpu: number
  /** Time in which the busiest thread had work, in milliseconds: near the whole time, it is the bottleneck. */
  readonly busiest: number
}

const TICK = 10 // ms; USER_HZ is 100 on every Linux that Node supports
/** User and system time of a process are both cut to whole ticks. */
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
  // A thread that ended took its nanoseconds with it, and a child that came and went was never seen;
  // the ticks of the process, or of the parent that reaped it, hold both.
  const ended = [...before.threads.keys()].some((id) => !after.threads.has(id))
  const processes = new Set([...after.threads.keys()].map((id) => id.split('/', 1)[0]))
  const unseen = after.coarse - before.coarse - cpu
  if (unseen > 0 && (ended || unseen > processes.size * COARSE_ERROR)) cpu += unseen
  return { cpu, busiest }
}

/** CPU time that the whole machine spent on anything, or that its hypervisor gave to others, in milliseconds. */
export function machineBusyTime(): number {
  if (canReadProc) {
    // os.cpus() leaves out soft interrupts, in which the kernel does much of the work of a socket.
    const [, user, nice, system, , , irq, softirq, steal] = (readText('/proc/stat') ?? '').split(/\s+/, 9).map(Number)
    return TICK * (user! + nice! + system! + irq! + softirq! + steal!)
  }
  return cpus().reduce((sum, { times }) => sum + times.user + times.nice + times.sys + times.irq, 0)
}

/** The pids of a tree: the root, its descendants, and on Linux also daemons that left it but kept its session. */
export async function listTree(root: number): Promise<number[]> {
  if (canReadProc) return procTree(root).map(({ pid }) => pid)
  return pidtree(root, { root: true }).catch(() => [])
}

/** Sends a signal to processes of a tree, and to the process group of its root, where one may have been added just now. */
export function signalTree(root: number, pids: readonly number[], name: NodeJS.Signals): void {
  for (const pid of process.platform === 'win32' ? pids : [-root, ...pids]) {
    try {
      process.kill(pid, name)
    } catch {
      // It ended by itself in the meantime.
    }
  }
}

interface ProcStat {
  pid: number
  parent: number
  session: number
  ticks: number
}

/** Whether the CPU of processes is to be had in nanoseconds. */
export const canReadProc: boolean =
  process.platform === 'linux' && (readText('/proc/self/schedstat')?.split(' ').length ?? 0) >= 2

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

function procTree(root: number): ProcStat[] {
  const all = listDirectory('/proc')
    .filter((name) => /^\d+$/.test(name))
    .map((name) => procStat(Number(name)))
    .filter((stat) => stat !== undefined)
  const members = new Set([root])
  // Parents may be listed after their children: repeat until nothing is added.
  for (let size = 0; size !== members.size;) {
    size = members.size
    for (const { pid, parent, session } of all) if (members.has(parent) || session === root) members.add(pid)
  }
  return all.filter(({ pid }) => members.has(pid))
}

function procStat(pid: number): ProcStat | undefined {
  const text = readText(`/proc/${pid}/stat`)
  // The command name stands in brackets and may hold anything, brackets too. See proc(5).
  const [state, parent, , session, , , , , , , , ...times] = text?.slice(text.lastIndexOf(')') + 2).split(' ') ?? []
  if (state === undefined || state === 'Z') return undefined
  const ticks = times.slice(0, 4).reduce((sum, time) => sum + Number(time), 0)
  return { pid, parent: Number(parent), session: Number(session), ticks }
}

function kilobytes(status: string, field: string): number {
  return Number(new RegExp(`^${field}:\\s+(\\d+)`, 'm').exec(status)?.[1] ?? 0) * 1024
}

/** Processes end while they are read: what is gone reads as nothing. */
function readText(path: string): string | undefined {
  try {
    return readFileSync(path, 'utf8')
  } catch {
    return undefined
  }
}

function listDirectory(path: string): string[] {
  try {
    return readdirSync(path)
  } catch {
    return []
  }
}

/** The reading for macOS and Windows, exported so that its test can hold it against /proc. */
export async function readPortableTree(root: number): Promise<TreeReading> {
  const pids = await pidtree(root, { root: true }).catch(() => [])
  const at = performance.now()
  const stats = Object.entries(await pidusage(pids).catch(() => ({})))
  const cpu = new Map(stats.map(([pid, { ctime }]) => [pid, { run: ctime, wait: 0 }]))
  const rss = stats.reduce((sum, [, { memory }]) => sum + memory, 0)
  return { at, threads: cpu, coarse: stats.reduce((sum, [, { ctime }]) => sum + ctime, 0), rss, peakRss: rss }
}
