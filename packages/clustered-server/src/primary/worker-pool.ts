import { EventEmitter } from 'node:events'
import type { ResolvedOptions } from '../options/types.ts'
import type { ClusteredServerEvents, WorkerExit, WorkerName } from '../server-types.ts'
import type { Releases } from '../releases/releases.ts'
import { OrphanWatch } from './orphan-killer.ts'
import { RestartPolicy } from './restart-policy.ts'
import type { WorkerFactory } from './worker-factory.ts'
import type { WorkerHandle } from './worker-handle.ts'

/** Milliseconds that a worker may take to end after `drainTimeout`. */
const END_TIMEOUT = 7000

interface PoolEvents {
  /** A worker was started. */
  start: [WorkerHandle]
  /** No worker is left, and none will be started. */
  exhausted: []
}

/** The workers: how many there are, which replaces which, and when one is started again. */
export class WorkerPool extends EventEmitter<PoolEvents> {
  /** Number of workers that are to accept connections. */
  size: number
  /** Generation of workers that are started from now on. */
  generation = 1
  readonly #options: ResolvedOptions
  readonly #factory: WorkerFactory
  readonly #events: EventEmitter<ClusteredServerEvents>
  readonly #workers = new Set<WorkerHandle>()
  readonly #restartPolicy = new RestartPolicy()
  readonly #restarts = new Set<NodeJS.Timeout>()
  readonly #orphanWatch = new OrphanWatch()
  /** Whether a crash loop was detected: no more workers are started. */
  #hasGivenUp = false
  #isStopped = false

  constructor(options: ResolvedOptions, factory: WorkerFactory, events: EventEmitter<ClusteredServerEvents>) {
    super()
    this.#options = options
    this.#factory = factory
    this.#events = events
    this.size = options.workers
  }

  get releases(): Releases {
    return this.#factory.releases
  }

  get all(): ReadonlySet<WorkerHandle> {
    return this.#workers
  }

  get hasGivenUp(): boolean {
    return this.#hasGivenUp
  }

  /** Workers that accept connections. */
  get active(): WorkerHandle[] {
    return [...this.#workers].filter(({ state }) => state === 'active')
  }

  /** Workers that accept connections, or will once they are loaded. */
  get assigned(): WorkerHandle[] {
    return [...this.#workers].filter(({ role, state }) => role === 'assigned' && state !== 'ended')
  }

  /** Standby workers, loaded ones first. */
  get standby(): WorkerHandle[] {
    const standby = [...this.#workers].filter(({ role, state }) => role === 'standby' && state !== 'ended')
    return standby.toSorted((a, b) => Number(a.state === 'starting') - Number(b.state === 'starting'))
  }

  /** Resolves when one more worker accepts connections: a standby worker of the current generation, or a new one. */
  async activateOne(): Promise<void> {
    const worker = this.standby.find(({ generation }) => generation === this.generation) ?? this.#start()
    await worker.listen()
  }

  /** Retires a worker once another accepts connections in its place. */
  async replace(worker: WorkerHandle): Promise<void> {
    await this.activateOne()
    this.retire(worker)
  }

  retire(worker: WorkerHandle, handOver = true): void {
    // Where connections cannot be handed over, new ones still need another worker.
    worker.retire(handOver && this.active.some((other) => other !== worker))
    const timer = setTimeout(() => worker.kill(), this.#options.drainTimeout + END_TIMEOUT)
    void worker.ended.then(() => clearTimeout(timer))
  }

  /** Starts missing workers and the standby worker. */
  fill(): void {
    if (this.#isStopped) return
    this.#assignStandby()
    if (this.#hasGivenUp) return
    while (this.assigned.length < this.size) this.#start().listen().catch(ignore)
    if (this.#options.standby && this.standby.length === 0) this.#start()
  }

  /** Retires surplus workers, the oldest generation first. */
  trim(): void {
    const assigned = this.assigned.toSorted((a, b) => a.generation - b.generation || b.id - a.id)
    for (const worker of assigned.slice(0, Math.max(0, assigned.length - this.size))) this.retire(worker)
  }

  /** Starts workers again after a crash loop: new code may work. */
  resetRestarts(): void {
    this.#restartPolicy.reset()
    this.#hasGivenUp = false
  }

  /** Kills all workers. None of these exits is a crash. */
  killAll(): void {
    for (const worker of this.#workers) {
      worker.role = 'retiring'
      worker.kill()
    }
  }

  /** Starts no more workers. */
  stop(): void {
    this.#isStopped = true
    for (const timer of this.#restarts) clearTimeout(timer)
  }

  /** Resolves when all workers have ended. */
  async ended(): Promise<void> {
    await Promise.all([...this.#workers].map(({ ended }) => ended))
    this.#orphanWatch.end()
  }

  #start(): WorkerHandle {
    const worker = this.#factory.create(this.generation, this.size)
    this.#workers.add(worker)
    this.#watchOrphans()
    worker.once('exit', (exit) => this.#onExit(worker, exit))
    worker.once('active', () => this.#events.emit('workerReady', nameOf(worker)))
    this.emit('start', worker)
    this.#events.emit('workerStart', nameOf(worker))
    return worker
  }

  /** Makes the current workers end with this process, even if it is killed. */
  #watchOrphans(): void {
    this.#orphanWatch.watch([...this.#workers].flatMap(({ pid }) => pid ?? []))
  }

  /** Lets loaded standby workers replace missing ones. */
  #assignStandby(): void {
    const isLoaded = ({ state }: WorkerHandle): boolean => state !== 'starting'
    const missing = Math.max(0, this.size - this.assigned.filter(isLoaded).length)
    for (const worker of this.standby.filter(isLoaded).slice(0, missing)) worker.listen().catch(ignore)
  }

  #onExit(worker: WorkerHandle, exit: WorkerExit): void {
    this.#workers.delete(worker)
    this.#watchOrphans()
    const { role, startedAt, failure } = worker
    const expected = role === 'retiring'
    // Another build cannot replace a worker of an older one.
    const isReplaced = !expected && role !== 'lingering'
    this.#events.emit('workerExit', { ...nameOf(worker), expected, failure, ...exit })
    if (this.#isStopped) return
    const delay = !isReplaced ? undefined : this.#restartPolicy.delayAfter(Date.now() - startedAt)
    if (this.#restartPolicy.isLoop) this.#giveUp()
    else if (delay !== undefined) this.#restartAfter(delay)
  }

  /** Replaces a dead worker: the standby worker immediately, a new one after `delay` milliseconds. */
  #restartAfter(delay: number): void {
    this.#assignStandby()
    const timer = setTimeout(() => {
      this.#restarts.delete(timer)
      this.fill()
    }, delay)
    this.#restarts.add(timer)
  }

  #giveUp(): void {
    const isNew = !this.#hasGivenUp
    this.#hasGivenUp = true
    this.#assignStandby()
    const { deaths } = this.#restartPolicy
    if (isNew) this.#events.emit('crashLoop', { deaths, workers: this.assigned.length })
    if (this.#workers.size === 0) this.emit('exhausted')
  }
}

export function nameOf({ id, pid, generation }: WorkerName): WorkerName {
  return { id, pid, generation }
}

/** For failures that the exit of a worker reports too. */
function ignore(): void {}
