import type { AdminAddress, ClusteredServer, ClusterStatus } from '../server-types.ts'
import { EventCounts } from './event-counts.ts'

/** Status that the admin server and the control socket respond with. */
export interface ServiceStatus extends ClusterStatus {
  readonly pid: number
  readonly name?: string | undefined
  /** Start time of the server, in milliseconds since the epoch. */
  readonly startedAt: number
  /** Maximum duration of a shutdown without `onShutdown`, in milliseconds. */
  readonly stopTimeout: number
  readonly admin?: AdminAddress | undefined
  readonly reloads: number
  readonly failedReloads: number
  /** Why the last reload failed. */
  readonly reloadError?: string | undefined
}

/** Describes a server to other processes. */
export class StatusReport {
  readonly counts: EventCounts
  readonly #server: ClusteredServer
  readonly #name: string | undefined
  readonly #stopTimeout: number
  readonly #startedAt = Date.now()

  constructor(server: ClusteredServer, name: string | undefined, stopTimeout: number) {
    this.counts = new EventCounts(server)
    this.#server = server
    this.#name = name
    this.#stopTimeout = stopTimeout
  }

  get(): ServiceStatus {
    const { reloads, failedReloads, reloadError } = this.counts
    return {
      pid: process.pid,
      name: this.#name,
      startedAt: this.#startedAt,
      stopTimeout: this.#stopTimeout,
      admin: this.#server.admin,
      ...this.#server.status(),
      ...{ reloads, failedReloads, reloadError },
    }
  }
}

/** Whether a value, as another process has sent it, has the shape of a status. */
export function isServiceStatus(value: unknown): value is ServiceStatus {
  if (typeof value !== 'object' || value === null) return false
  const { pid, generation, workers } = value as Record<string, unknown>
  return Number.isSafeInteger(pid) && Number.isSafeInteger(generation) && Array.isArray(workers)
}
