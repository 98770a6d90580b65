import type { ClusteredServer } from './clustered-server.ts'
import type { RecycleReason } from './recycling.ts'

/** How often what has happened. */
export class EventCounts {
  starts = 0
  expectedExits = 0
  unexpectedExits = 0
  stuck = 0
  crashLoops = 0
  readonly recycles: Record<RecycleReason, number> = { requests: 0, rss: 0, heap: 0, age: 0 }
  reloads = 0
  failedReloads = 0
  /** Why the last reload failed, if it did. */
  reloadError: string | undefined

  constructor(server: ClusteredServer) {
    server.on('workerStart', () => this.starts++)
    server.on('workerExit', ({ expected }) => (expected ? this.expectedExits++ : this.unexpectedExits++))
    server.on('workerStuck', () => this.stuck++)
    server.on('recycle', ({ reason }) => this.recycles[reason]++)
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
