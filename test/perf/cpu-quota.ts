// Servers with a fixed number of cores, as in a container.

import { existsSync, mkdirSync, readdirSync, rmdirSync, writeFileSync } from 'node:fs'
import { fileURLToPath } from 'node:url'
import type { CommandSubject, FileSubject } from 'speed-bounds'

interface Hierarchy {
  readonly folder: string
  readonly file: string
  readonly text: (quota: number) => string
}

/** Where control groups of CPU are, and how a quota is written there, in microseconds of each 100 ms. */
const HIERARCHIES: readonly Hierarchy[] = [
  { folder: '/sys/fs/cgroup/cpu', file: 'cpu.cfs_quota_us', text: String },
  { folder: '/sys/fs/cgroup', file: 'cpu.max', text: (quota) => `${quota} 100000` },
]
const PERIOD = 100_000

const prefix = `speed-bounds-${process.pid}-`
const hierarchy = HIERARCHIES.find(({ folder, file, text }) => {
  const group = `${folder}/${prefix}probe`
  try {
    mkdirSync(group)
  } catch {
    return false
  }
  try {
    // Without a controller of CPU there is no such file, and none can be made.
    if (!existsSync(`${group}/${file}`)) return false
    writeFileSync(`${group}/${file}`, text(PERIOD))
    return true
  } finally {
    rmdirSync(group)
  }
})

/** Whether control groups of CPU can be made here, which takes root. */
export const quotasCanBeSet: boolean = hierarchy !== undefined

/** A server that has this many cores, together with all processes that it starts. */
export function withinQuota({ file: server, env }: FileSubject & { file: URL }, cores: number): CommandSubject {
  if (!hierarchy) throw new Error('No quota of CPU can be set here')
  const { folder, file, text } = hierarchy
  // A group for each process and its children. An idle subject must not slow down the measured one.
  const script = `set -e; group=${folder}/${prefix}$$; mkdir $group; echo "$0" > $group/${file}; echo $$ > $group/cgroup.procs; exec "$@"`
  return {
    command: ['sh', '-c', script, text(cores * PERIOD), process.execPath, fileURLToPath(server)],
    ...(env && { env }),
  }
}

/** Removes the groups of servers that have ended. */
export function removeQuotas(): void {
  if (!hierarchy) return
  const { folder } = hierarchy
  for (const group of readdirSync(folder).filter((name) => name.startsWith(prefix))) rmdirSync(`${folder}/${group}`)
}
