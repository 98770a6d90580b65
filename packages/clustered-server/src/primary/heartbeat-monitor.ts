import type { EventEmitter } from 'node:events'
import type { ClusteredServerEvents } from '../server-types.ts'
import type { WorkerHandle } from './worker-handle.ts'
import { nameOf, type WorkerPool } from './worker-pool.ts'

/** Milliseconds between two polls: each takes a core from a worker. */
const POLL_MS = 500
/** The same while a worker is silent. */
const FAST_POLL_MS = 100
/** Milliseconds by which a poll may be late before this process itself counts as delayed. */
const MAX_DELAY = 200

/** Polls the workers' heartbeats, and kills workers whose event loop is blocked. */
export class HeartbeatMonitor {
  readonly #pool: WorkerPool
  readonly #events: EventEmitter<ClusteredServerEvents>
  readonly #heartbeatTimeout: number
  readonly #onPoll: () => void
  #timer: NodeJS.Timeout | undefined
  #dueAt = Infinity
  #isStopped = false

  /** @param onPoll is called after each poll, when statistics are fresh */
  constructor(
    pool: WorkerPool,
    events: EventEmitter<ClusteredServerEvents>,
    heartbeatTimeout: number,
    onPoll: () => void,
  ) {
    this.#pool = pool
    this.#events = events
    this.#heartbeatTimeout = heartbeatTimeout
    this.#onPoll = onPoll
    this.#schedulePoll(POLL_MS)
  }

  stop(): void {
    this.#isStopped = true
    clearTimeout(this.#timer)
  }

  #schedulePoll(delay: number): void {
    this.#dueAt = performance.now() + delay
    this.#timer = setTimeout(() => this.#poll(), delay)
  }

  #poll(): void {
    // If this process was itself delayed, missed heartbeats prove nothing.
    const wasDelayed = performance.now() > this.#dueAt + MAX_DELAY
    let isAnySilent = false
    for (const worker of this.#pool.all) {
      worker.poll()
      if (wasDelayed || worker.state === 'starting') worker.liveness.markAlive()
      else if (worker.isBlocked(this.#heartbeatTimeout)) void this.#killBlocked(worker)
      isAnySilent ||= worker.liveness.isSilent
    }
    this.#onPoll()
    if (this.#isStopped) return
    const usual = Math.max(FAST_POLL_MS, Math.min(POLL_MS, this.#heartbeatTimeout / 2))
    this.#schedulePoll(isAnySilent ? FAST_POLL_MS : usual)
  }

  async #killBlocked(worker: WorkerHandle): Promise<void> {
    this.#events.emit('workerBlocked', nameOf(worker))
    // Its exit comes later; until then it must not be found blocked again.
    worker.liveness.giveUp()
    const report = await worker.report()
    worker.kill()
    if (report) this.#events.emit('blockedLoopReport', { ...nameOf(worker), ...report })
  }
}
