import { performance } from 'node:perf_hooks'
import type { Connections } from '../connections/connections.ts'
import type { StatsSlot } from '../ipc/messages.ts'
import { sendToPrimary } from '../ipc/send-to-primary.ts'
import { writeStats } from '../ipc/shared-stats.ts'
import { isOutOfDescriptors } from '../platform/out-of-descriptors.ts'
import type { WorkerStats } from '../server-types.ts'

/** Heartbeats between two readings of the memory. See docs/measurements.md#watch-processes */
const MEMORY_BEATS = 10
/** Minimum number of new connections between two heartbeats that count as a burst. */
const MIN_BURST = 9
/** Milliseconds for more connections of a burst to arrive, and between two reports of bursts. */
const BURST = { settles: 20, pause: 500 }

/** Reports statistics of this worker regularly, and bursts of connections immediately. */
export class Heartbeat {
  readonly #connections: Connections
  readonly #slot: StatsSlot | undefined
  #before = performance.eventLoopUtilization()
  /** Connections at the last heartbeat, and adopted ones since. */
  #expected = 0
  #nextBurstAt = 0
  #memory = process.memoryUsage()
  #beats = 0

  /** @param slot place for statistics; without it they are sent as messages */
  constructor(connections: Connections, slot: StatsSlot | undefined) {
    this.#connections = connections
    this.#slot = slot
  }

  beat(): void {
    const used = performance.eventLoopUtilization()
    const stats = this.stats(used)
    this.#before = used
    this.#expected = stats.connections
    if (this.#slot && writeStats(this.#slot, stats)) return
    sendToPrimary({ type: 'stats', stats })
  }

  stats(used: ReturnType<typeof performance.eventLoopUtilization> = performance.eventLoopUtilization()): WorkerStats {
    const { rss, heapUsed } = this.#readMemory()
    const { utilization } = performance.eventLoopUtilization(used, this.#before)
    const { count: connections, requests } = this.#connections
    return { connections, requests, rss, heapUsed, utilization }
  }

  /** An adopted connection must not count as part of a burst. */
  onAdopt(): void {
    this.#expected++
  }

  /** Reports many new connections, so that the primary distributes them over all workers. */
  onConnection(): void {
    if (this.#connections.count - this.#expected < MIN_BURST) return
    const now = performance.now()
    if (now < this.#nextBurstAt) return
    this.#nextBurstAt = now + BURST.pause
    setTimeout(sendToPrimary, BURST.settles, { type: 'burst' }).unref()
  }

  /**
   * Reading needs a descriptor. Without a free one, the last value stays, and the primary is told: the kernel gives this
   * process new connections, and libuv closes them without an event.
   */
  #readMemory(): NodeJS.MemoryUsage {
    if (this.#beats++ % MEMORY_BEATS > 0) return this.#memory
    try {
      this.#memory = process.memoryUsage()
    } catch (error) {
      // Without `/proc`, it fails for another reason.
      if (isOutOfDescriptors(error)) sendToPrimary({ type: 'full' })
    }
    return this.#memory
  }
}
