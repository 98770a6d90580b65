import { availableParallelism } from 'node:os'
import { join } from 'node:path'
import { readCgroups, textOf } from './cgroups.ts'

/**
 * Returns how many cores this process may use, at least 1. On Linux the CPU affinity and all quotas of control groups
 * count, rounded down; elsewhere the value of `os.availableParallelism()`.
 *
 * @param root directory of `/proc` and `/sys`
 *
 * @example
 * const pool = new Piscina({ maxThreads: availableCores() })
 */
export function availableCores(root: string = '/'): number {
  return Math.max(1, Math.floor(Math.min(affinity(root), ...quotas(root))))
}

/** All quotas in cores. Node itself reads the outermost one of version 2, and none of version 1. */
function quotas(root: string): number[] {
  return [
    ...readCgroups(root, 'cpu', 2, 'cpu.max'),
    ...readCgroups(root, 'cpu', 1, 'cpu.cfs_quota_us', 'cpu.cfs_period_us'),
  ].flatMap((text) => {
    // `max` or -1 mean no quota.
    const [, quota, period] = /^(\d+)\s+(\d+)$/.exec(text) ?? []
    const cores = Number(quota) / Number(period)
    return cores > 0 && Number.isFinite(cores) ? cores : []
  })
}

/** Number of online cores that the process may run on. The list of allowed cores often contains missing ones. */
function affinity(root: string): number {
  const [, allowed] = /^Cpus_allowed_list:\s*(\S+)/m.exec(textOf(join(root, 'proc/self/status')) ?? '') ?? []
  const online = textOf(join(root, 'sys/devices/system/cpu/online'))?.trim()
  const cores = allowed && online ? common(rangesOf(allowed), rangesOf(online)) : 0
  return cores > 0 ? cores : availableParallelism()
}

type Range = readonly [from: number, to: number]

/** Parses ranges such as `0-3,8`; returns none for other formats. */
function rangesOf(list: string): Range[] {
  if (!/^\d+(-\d+)?(,\d+(-\d+)?)*$/.test(list)) return []
  return list.split(',').map((range) => {
    const [from, to = from] = range.split('-').map(Number)
    return [from!, to!]
  })
}

/** Counts the numbers in both lists. */
function common(some: readonly Range[], others: readonly Range[]): number {
  let count = 0
  for (const [from, to] of some)
    for (const [first, last] of others) count += Math.max(0, Math.min(to, last) - Math.max(from, first) + 1)
  return count
}
