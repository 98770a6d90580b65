// Other processes of this machine that serve the same build, each with a cache of its own.

import cluster from 'node:cluster'
import { mkdirSync, readdirSync, rmSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'

/** The variable by which clustered-server tells a worker the process ID of its primary. */
const PRIMARY = 'CLUSTERED_SERVER_PRIMARY'

/** Whether this process is a worker of clustered-server, of PM2's cluster mode or of another cluster of Node. */
export function isClusterWorker(): boolean {
  return cluster.isWorker || process.env[PRIMARY] === String(process.ppid)
}

/** Number of servers of this process, by the folder of their records. */
const servers = new Map<string, number>()

/** Records that this process serves a build with a cache of its own. Returns the process IDs of others that do. */
export function recordProcess(distDir: string): { readonly others: readonly number[]; readonly remove: () => void } {
  const folder = join(distDir, 'next-on-fastify/processes')
  const own = join(folder, String(process.pid))
  try {
    mkdirSync(folder, { recursive: true })
    writeFileSync(own, '')
  } catch {
    // The folder is read-only, so no process has a record.
    return { others: [], remove: () => {} }
  }
  servers.set(folder, (servers.get(folder) ?? 0) + 1)
  const remove = (): void => {
    const left = (servers.get(folder) ?? 1) - 1
    servers.set(folder, left)
    if (left === 0) removeRecord(own)
  }
  return { others: runningIn(folder), remove }
}

function removeRecord(path: string): void {
  try {
    rmSync(path, { force: true })
  } catch {
    // Another process removes it later, once this one has ended.
  }
}

/** Removes records of processes that have ended without doing so. */
function runningIn(folder: string): number[] {
  const others = readdirSync(folder)
    .map(Number)
    .filter((pid) => Number.isInteger(pid) && pid > 0 && pid !== process.pid)
  return others.filter((pid) => {
    const isRunning = isAlive(pid)
    if (!isRunning) removeRecord(join(folder, String(pid)))
    return isRunning
  })
}

function isAlive(pid: number): boolean {
  try {
    process.kill(pid, 0)
    return true
  } catch (error) {
    return (error as NodeJS.ErrnoException).code === 'EPERM'
  }
}
