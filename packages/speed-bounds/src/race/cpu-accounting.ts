// CPU of a subject, and of everything else on the machine, between two readings.

import type { RunningSubject } from '../subject/running-subject.ts'
import { machineTimes, type MachineTimes } from '../platform/machine-cpu.ts'
import { readTree, type TreeReading, useBetween } from '../platform/tree-usage.ts'

/** A subject counts as idle if its busiest thread worked for less than this share of a `POLL` (ms). */
const SETTLE = { POLL: 5, IDLE: 0.3, MAX: 2000 }

/** CPU used so far, in milliseconds. */
export interface CpuReading {
  readonly tree: TreeReading
  readonly machine: MachineTimes
  readonly own: number
}

/** CPU of a subject in a period, in milliseconds. */
export interface CpuUse {
  cpu: number
  busiest: number
  time: number
  /** CPU of all others except this process, `stolen` included. */
  others: number
  /** CPU that the hypervisor gave to other guests. */
  stolen: number
}

export async function readCpu(run: RunningSubject): Promise<CpuReading> {
  const machine = machineTimes()
  const { user, system } = process.cpuUsage()
  return { tree: await readTree(run.pid), machine, own: (user + system) / 1000 }
}

export function cpuBetween(before: CpuReading, after: CpuReading): CpuUse {
  const { cpu, busiest } = useBetween(before.tree, after.tree)
  const others = after.machine.busy - before.machine.busy - cpu - (after.own - before.own)
  const stolen = after.machine.stolen - before.machine.stolen
  return { cpu, busiest, time: after.tree.at - before.tree.at, others, stolen }
}

/** Waits until a subject has no work left when the generator stops: it must not run into the next round. */
export async function untilIdle(run: RunningSubject): Promise<CpuReading> {
  let before = await readCpu(run)
  const deadline = before.tree.at + SETTLE.MAX
  while (before.tree.at < deadline) {
    await new Promise((resolve) => setTimeout(resolve, SETTLE.POLL))
    const after = await readCpu(run)
    const { busiest, time } = cpuBetween(before, after)
    before = after
    if (busiest < SETTLE.IDLE * time) break
  }
  return before
}

/** Resumes a process until it has done overdue work: its timers, and connections that others have closed. */
export async function resumeUntilIdle(run: RunningSubject): Promise<CpuReading> {
  await run.resume()
  return untilIdle(run)
}
