import type { ClusteredServer } from '../server-types.ts'

/** Counts of events, for metrics and the status. */
export class EventCounts {
  starts = 0
  expectedExits = 0
  unexpectedExits = 0
  blocked = 0
  recycled = 0
  crashLoops = 0
  reloads = 0
  failedReloads = 0
  /** Why the last reload failed; `undefined` after a successful one. */
  reloadError: string | undefined

  constructor(server: ClusteredServer) {
    server.on('workerStart', () => this.starts++)
    server.on('workerExit', ({ expected }) => (expected ? this.expectedExits++ : this.unexpectedExits++))
    server.on('workerBlocked', () => this.blocked++)
    server.on('recycle', () => this.recycled++)
    server.on('crashLoop', () => this.crashLoops++)
    server.on('reloaded', () => {
      this.reloads++
      this.reloadError = undefined
    })
    server.on('reloadFailed', ({ error }) => {
      this.failedReloads++
      this.reloadError = error.message
    })
  }
}
