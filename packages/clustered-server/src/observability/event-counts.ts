import type { ClusteredServer } from '../types.ts'

/** How often what has happened. */
export class EventCounts {
  starts = 0
  expectedExits = 0
  unexpectedExits = 0
  stuck = 0
  recycled = 0
  crashLoops = 0
  reloads = 0
  failedReloads = 0
  /** Why the last reload failed, if it did. */
  reloadError: string | undefined

  constructor(server: ClusteredServer) {
    server.on('workerStart', () => this.starts++)
    server.on('workerExit', ({ expected }) => (expected ? this.expectedExits++ : this.unexpectedExits++))
    server.on('workerStuck', () => this.stuck++)
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
