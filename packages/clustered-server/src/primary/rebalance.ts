import type { EventEmitter } from 'node:events'
import type { ClusteredServerEvents } from '../server-types.ts'
import { excessConnections } from './excess-connections.ts'
import type { MovingConnection } from './moving-connection.ts'
import type { WorkerHandle } from './worker-handle.ts'
import { nameOf, type WorkerPool } from './worker-pool.ts'

/** Minimum milliseconds between two rounds of rebalancing. */
const INTERVAL = 450
/** Maximum milliseconds for workers to send their connection counts after a burst. */
const COUNT_TIMEOUT = 250
/** Milliseconds in which a worker that had no free descriptor takes part in no rebalancing. */
const FULL_MS = 5000

/** Moves connections between workers: when their load is uneven, and when a worker retires. */
export class Rebalance {
  readonly #pool: WorkerPool
  readonly #events: EventEmitter<ClusteredServerEvents>
  readonly #canHandOver: boolean
  readonly #sticky: boolean
  /** Workers that had no free descriptor, and until when they count as full. */
  readonly #fullUntil = new WeakMap<WorkerHandle, number>()
  #nextRoundAt = 0
  /** Until then, connections of the last round may still be on their way. */
  #movingUntil = 0
  #isCounting = false

  /** @param sticky whether connections stay on the worker of their client address */
  constructor(
    pool: WorkerPool,
    events: EventEmitter<ClusteredServerEvents>,
    { canHandOver, sticky }: { canHandOver: boolean; sticky: boolean },
  ) {
    this.#pool = pool
    this.#events = events
    this.#canHandOver = canHandOver
    this.#sticky = sticky
    pool.on('start', (worker) => this.#add(worker))
  }

  /** Rebalances if the time has come. */
  poll(): void {
    if (!this.#sticky && performance.now() >= this.#nextRoundAt) this.#rebalance()
  }

  #add(worker: WorkerHandle): void {
    worker.on('connection', (connection, to) => this.#forward(worker, connection, to))
    worker.on('refused', (connection) => this.#onRefused(worker, connection))
    if (!this.#sticky) worker.on('burst', () => void this.#onBurst())
    worker.on('full', () => this.#events.emit('workerFull', nameOf(worker)))
    worker.on('lost', () => this.#events.emit('connectionLost', { pid: process.pid }))
  }

  #forward(from: WorkerHandle, connection: MovingConnection, to: number | undefined): void {
    const chosen = this.#pool.active.find(({ id, isConnected }) => id === to && isConnected)
    const receiver = chosen ?? this.#receiver(from, connection)
    if (receiver) receiver.handOver(connection)
    else connection.handle.close()
  }

  /** Tries the other workers; with `sticky`, no other one may have the connection. */
  #onRefused(worker: WorkerHandle, { handle, idleMs, refusedBy }: MovingConnection): void {
    this.#fullUntil.set(worker, performance.now() + FULL_MS)
    const connection = { handle, idleMs, refusedBy: [...refusedBy, worker.id] }
    const receiver = this.#sticky ? undefined : this.#receiver(worker, connection)
    if (receiver) return receiver.handOver(connection)
    handle.close()
    this.#events.emit('connectionLost', { pid: worker.pid })
  }

  #isFull(worker: WorkerHandle): boolean {
    return performance.now() < (this.#fullUntil.get(worker) ?? 0)
  }

  /**
   * Chooses the worker for a connection: one with free descriptors first, then responsive, then of the newest code, then
   * with the fewest connections.
   */
  #receiver(from: WorkerHandle, { refusedBy }: MovingConnection): WorkerHandle | undefined {
    if (!this.#canHandOver || !from.canHandOver) return undefined
    const able = this.#pool.active.filter(
      ({ id, canHandOver, isConnected }) => canHandOver && isConnected && !refusedBy.includes(id),
    )
    const others = able.filter((worker) => worker !== from)
    for (const worker of others) worker.poll()
    const [best] = others.toSorted(
      (a, b) =>
        Number(this.#isFull(a)) - Number(this.#isFull(b)) ||
        Number(a.liveness.isSilent) - Number(b.liveness.isSilent) ||
        b.generation - a.generation ||
        a.connections - b.connections,
    )
    // An active worker can keep its own connection.
    return best ?? (able.includes(from) ? from : undefined)
  }

  /** Active workers whose connections can be moved. */
  #movable(): WorkerHandle[] {
    if (!this.#canHandOver) return []
    return this.#pool.active.filter(
      (worker) => worker.canHandOver && !worker.liveness.isSilent && !this.#isFull(worker),
    )
  }

  /** Rebalances as soon as all workers have sent their connection counts. */
  async #onBurst(): Promise<void> {
    if (this.#isCounting || performance.now() < this.#movingUntil) return
    this.#isCounting = true
    for (const worker of this.#pool.all) worker.poll()
    const received = await Promise.all(this.#movable().map((worker) => worker.requestStats(COUNT_TIMEOUT)))
    this.#isCounting = false
    // A regular round may have come first.
    if (received.every(Boolean) && performance.now() >= this.#movingUntil) this.#rebalance()
  }

  #rebalance(): void {
    const next = performance.now() + INTERVAL
    this.#nextRoundAt = next
    const movable = this.#movable()
    const loads = movable.map(({ connections, stats: { utilization } }) => ({ connections, utilization }))
    for (const [index, count] of excessConnections(loads).entries()) {
      if (count === 0) continue
      this.#movingUntil = next
      movable[index]!.rebalance(count)
    }
  }
}
