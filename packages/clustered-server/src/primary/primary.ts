import { EventEmitter } from 'node:events'
import { setTimeout as sleep } from 'node:timers/promises'
import { errorCodes } from '../errors.ts'
import type { AppMetrics } from '../observability/metrics-text.ts'
import { assertWorkers } from '../options/resolve-options.ts'
import type { ResolvedOptions } from '../options/types.ts'
import { canHandOver } from '../platform/node-internals.ts'
import type { AdminAddress, ClusteredServer, ClusteredServerEvents, ClusterStatus } from '../server-types.ts'
import { HeartbeatMonitor } from './heartbeat-monitor.ts'
import { Lingering } from './lingering.ts'
import { warnOfLoopback } from './loopback-warning.ts'
import { bind, type Listener } from './listener.ts'
import { OperationQueue } from './operation-queue.ts'
import { Rebalance } from './rebalance.ts'
import { Recycling } from './recycling.ts'
import { Reload } from './reload.ts'
import { announceWorkers } from './announce-workers.ts'
import { WorkerFactory } from './worker-factory.ts'
import { nameOf, WorkerPool } from './worker-pool.ts'

/** The process that owns the socket and the workers. */
export class Primary extends EventEmitter<ClusteredServerEvents> implements ClusteredServer {
  admin: AdminAddress | undefined
  readonly #options: ResolvedOptions
  readonly #listener: Listener
  readonly #factory: WorkerFactory
  readonly #pool: WorkerPool
  readonly #operations: OperationQueue
  readonly #reload: Reload
  readonly #recycling: Recycling
  readonly #heartbeatMonitor: HeartbeatMonitor
  /** Number of workers after all pending operations. */
  #size: number
  #hasStarted = false
  #closed: Promise<void> | undefined
  /** Aborted when no more workers are started. */
  readonly #stopped = new AbortController()

  private constructor(options: ResolvedOptions, listener: Listener) {
    super({ captureRejections: true })
    const assertOpen = (): void => this.#assertOpen()
    this.#options = options
    this.#size = options.workers
    this.#listener = listener
    this.#factory = new WorkerFactory(options, listener)
    this.#pool = new WorkerPool(options, this.#factory, this)
    this.#pool.on('exhausted', () => this.kill())
    this.#operations = new OperationQueue(assertOpen)
    const lingering = options.linger && new Lingering(options.linger, this.#pool, this, options.logger)
    this.#reload = new Reload(this.#pool, this, lingering, assertOpen)
    this.#recycling = new Recycling(options.recycle)
    const rebalance = new Rebalance(this.#pool, this, {
      canHandOver: listener.fd !== undefined && canHandOver(),
      sticky: options.sticky,
    })
    if (options.sticky) announceWorkers(this.#pool)
    warnOfLoopback(this.#pool, options, listener)
    this.#heartbeatMonitor = new HeartbeatMonitor(this.#pool, this, options.heartbeatTimeout, () => {
      this.#recycle()
      rebalance.poll()
    })
  }

  /**
   * Binds the socket, and resolves when all workers accept connections.
   *
   * @param observe is called with the server before any worker starts
   */
  static async start(options: ResolvedOptions, observe: (server: Primary) => void): Promise<Primary> {
    const primary = new Primary(options, await bind(options))
    observe(primary)
    try {
      await Promise.all(Array.from({ length: options.workers }, () => primary.#activateOne()))
    } catch (error) {
      if (primary.#closed) {
        await primary.#closed
        throw new errorCodes.CLUSTERED_SERVER_CLOSED('The server was closed while it started', {
          cause: error,
        })
      }
      primary.kill()
      // The workers hold the socket too: the port is free only after their end.
      await primary.close().catch(() => {})
      throw error
    }
    primary.#hasStarted = true
    primary.#pool.fill()
    return primary
  }

  get port(): number {
    return this.#listener.port
  }

  get host(): string {
    return this.#listener.host
  }

  get path(): string | undefined {
    return this.#listener.path
  }

  get appMetrics(): AppMetrics {
    return this.#factory.appMetrics
  }

  status(): ClusterStatus {
    return {
      ready: this.#hasStarted && !this.#closed && this.#pool.active.length > 0,
      generation: this.#pool.generation,
      size: this.#size,
      workers: [...this.#pool.all].map((worker) => {
        worker.poll()
        const { id, pid, state, generation, startedAt, stats } = worker
        return { id, pid, state, generation, startedAt, ...stats }
      }),
      ...(this.#reload.lingering && { lingering: this.#reload.lingering.builds }),
    }
  }

  /** @throws CLUSTERED_SERVER_RELOAD_FAILED, CLUSTERED_SERVER_CLOSED */
  async reload(): Promise<void> {
    this.#assertOpen()
    return this.#operations.run(() => this.#reload.run())
  }

  /** @throws CLUSTERED_SERVER_INVALID_OPTION, CLUSTERED_SERVER_CLOSED */
  async scale(workers: number): Promise<void> {
    assertWorkers(workers)
    this.#assertOpen()
    this.#size = workers
    return this.#operations.run(async () => {
      const before = this.#pool.size
      this.#pool.size = workers
      try {
        while (this.#pool.assigned.length < workers) await this.#activateOne()
      } catch (error) {
        // Otherwise workers that do not start would be started until a crash loop ends all restarts.
        this.#pool.size = before
        if (this.#size === workers) this.#size = before
        throw error
      } finally {
        this.#pool.trim()
        this.#pool.fill()
      }
    })
  }

  close(): Promise<void> {
    this.#closed ??= this.#close()
    return this.#closed
  }

  /** Kills all workers immediately, also during `close()`. */
  kill(): void {
    this.#stop()
    this.#pool.killAll()
    this.#closed ??= this.#allEnded()
  }

  async #activateOne(): Promise<void> {
    this.#assertOpen()
    await this.#pool.activateOne()
  }

  /** Replaces one worker that has reached a limit. */
  #recycle(): void {
    const due = this.#pool.hasGivenUp ? undefined : this.#recycling.next(this.#pool.active)
    if (!due) return
    const { worker, reason } = due
    const replacement = this.#operations.run(async () => {
      // A reload may have replaced it meanwhile.
      if (worker.state !== 'active') return
      this.emit('recycle', { ...nameOf(worker), reason })
      try {
        this.#assertOpen()
        await this.#pool.replace(worker)
      } finally {
        this.#pool.trim()
        this.#pool.fill()
      }
    })
    void this.#recycling.during(replacement)
  }

  async #close(): Promise<void> {
    this.emit('closing')
    const { shutdownDelay } = this.#options
    if (shutdownDelay > 0) await sleep(shutdownDelay, undefined, { signal: this.#stopped.signal }).catch(() => {})
    this.#stop()
    for (const worker of this.#pool.all) this.#pool.retire(worker, false)
    await this.#allEnded()
  }

  async #allEnded(): Promise<void> {
    await this.#pool.ended()
    this.#factory.close()
    try {
      await this.#options.onShutdown()
    } finally {
      this.emit('closed')
    }
  }

  /** Starts no more workers and closes the sockets. May be called twice: by `close()`, then by `kill()`. */
  #stop(): void {
    if (this.#stopped.signal.aborted) return
    this.#stopped.abort()
    this.#heartbeatMonitor.stop()
    this.#pool.stop()
    this.#reload.lingering?.stop()
    // Connections in its queue are rejected once the workers have closed theirs.
    this.#listener.close()
    this.#factory.closeSockets()
  }

  #assertOpen(): void {
    if (this.#closed) throw new errorCodes.CLUSTERED_SERVER_CLOSED('The server is closed or closing')
  }
}
