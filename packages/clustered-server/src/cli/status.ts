import { isIPv6 } from 'node:net'
import type { ClusterStatus } from '../server-types.ts'
import { UsageError } from './usage-error.ts'

/** Response of the path `/status`. */
export interface AdminStatus extends ClusterStatus {
  readonly pid: number
  readonly reloads: number
  readonly failedReloads: number
  readonly reloadError?: string
}

/** Values of the flags for the address of the admin server. */
export interface AdminFlags {
  readonly 'admin-host'?: string
  readonly 'admin-port'?: string
}

/** Requests the status from an admin server. */
export async function fetchStatus(flags: AdminFlags): Promise<AdminStatus> {
  const { 'admin-host': host = '127.0.0.1', 'admin-port': port } = flags
  if (port === undefined) throw new UsageError('expected --admin-port')
  const url = `http://${isIPv6(host) ? `[${host}]` : host}:${port}/status`
  if (!URL.canParse(url)) throw new UsageError(`expected a port and a host, got ${port} and ${host}`)
  try {
    const response = await fetch(url)
    const status: unknown = await response.json().catch(() => undefined)
    if (isStatus(status)) return status
    throw new Error(`status ${response.status} of a server that is not an admin server: see --admin-port`)
  } catch (error) {
    const { cause, message } = error as Error
    const reason = (cause as Error | undefined)?.message ?? message
    throw new Error(`no clustered-server responds at ${url}: ${reason}`, { cause: error })
  }
}

function isStatus(value: unknown): value is AdminStatus {
  return typeof value === 'object' && value !== null && 'pid' in value && 'workers' in value && 'generation' in value
}

/** Formats a status as a table. */
export function statusTable({ pid, ready, generation, workers, reloads, failedReloads }: AdminStatus): string {
  const head = `${pid}: ${ready ? 'ready' : 'not ready'}, generation ${generation}, ${reloads} reloads, ${failedReloads} failed\n`
  if (workers.length === 0) return head
  const rows = workers.map((worker) => [
    String(worker.id),
    String(worker.pid),
    worker.state,
    String(worker.generation),
    `${Math.round((Date.now() - worker.startedAt) / 1000)} s`,
    String(worker.connections),
    `${Math.round(worker.rss / 2 ** 20)} MiB`,
    `${Math.round(worker.utilization * 100)} %`,
  ])
  const table = [['worker', 'pid', 'state', 'generation', 'age', 'connections', 'rss', 'busy'], ...rows]
  const widths = table[0]!.map((_, column) => Math.max(...table.map((row) => row[column]!.length)))
  const lines = table.map((row) => row.map((cell, column) => cell.padStart(widths[column]!)).join('  '))
  return `${head}${lines.join('\n')}\n`
}
