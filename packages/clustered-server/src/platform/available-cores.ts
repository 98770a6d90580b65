import { availableParallelism } from 'node:os'
import { join } from 'node:path'
import { readCgroups, textOf } from './cgroups.ts'

/**
 * How many cores this process may use, at least 1: on Linux those of its affinity, or fewer when its container or any
 * group around it has a quota of less, whole ones only; elsewhere what Node says.
 *
 * @param root where `/proc` and `/sys` are
 *
 * @example
 * const pool = new Piscina({ maxThreads: availableCores() })
 */
export function availableCores(root: string = '/'): number {
  return Math.max(1, Math.floor(Math.min(affinity(root), ...quotas(root))))
}

/** All quotas that hold, in cores. Node takes the outermost one of version 2, and none of version 1. */
function quotas(root: string): number[] {
  return [
    ...readCgroups(root, 'cpu', 2, 'cpu.max'),
    ...readCgroups(root, 'cpu', 1, 'cpu.cfs_quota_us', 'cpu.cfs_period_us'),
  ].flatMap((text) => {
    // `max` or -1 stand for none.
    const [, quota, period] = /^(\d+)\s+(\d+)$/.exec(text) ?? []
    const cores = Number(quota) / Number(period)
    return cores > 0 && Number.isFinite(cores) ? cores : []
  })
}

/** The cores that are on and that the process may run on: what is allowed often names cores that are not there. */
function affinity(root: string): number {
  const [, allowed] = /^Cpus_allowed_list:\s*(\S+)/m.exec(textOf(join(root, 'proc/self/status')) ?? '') ?? []
  const online = textOf(join(root, 'sys/devices/system/cpu/online'))?.trim()
  const cores = allowed && online ? common(rangesOf(allowed), rangesOf(online)) : 0
  return cores > 0 ? cores : availableParallelism()
}

type Range = readonly [from: number, to: number]

/** Ranges as of `0-3,8`; none when the list is of another kind. */
function rangesOf(list: string): Range[] {
  if (!/^\d+(-\d+)?(,\d+(-\d+)?)*$/.test(list)) return []
  return list.split(',').map((range) => {
    const [from, to = from] = range.split('-').map(Number)
    return [from!, to!]
  })
}

/** How many numbers are in both. */
function common(some: readonly Range[], others: readonly Range[]): number {
  let count = 0
  for (const [from, to] of some)
    for (const [first, last] of others) count += Math.max(0, Math.min(to, last) - Math.max(from, first) + 1)
  return count
}
