import type { EventEmitter } from 'node:events'
import { withPlace } from '../app/error-place.ts'
import { errorCodes } from '../errors.ts'
import type { ClusteredServerEvents } from '../server-types.ts'
import type { Lingering } from './lingering.ts'
import type { WorkerHandle } from './worker-handle.ts'
import type { WorkerPool } from './worker-pool.ts'

/** Replaces all workers with new ones, one by one. */
export class Reload {
  /** With the option `linger`. */
  readonly lingering: Lingering | undefined
  readonly #pool: WorkerPool
  readonly #events: EventEmitter<ClusteredServerEvents>
  readonly #assertOpen: () => void
  /** Failed reloads count too. */
  #lastGeneration = 1

  /** @param assertOpen throws when the server is closed */
  constructor(
    pool: WorkerPool,
    events: EventEmitter<ClusteredServerEvents>,
    lingering: Lingering | undefined,
    assertOpen: () => void,
  ) {
    this.lingering = lingering
    this.#pool = pool
    this.#events = events
    this.#assertOpen = assertOpen
  }

  /** @throws CLUSTERED_SERVER_RELOAD_FAILED, CLUSTERED_SERVER_CLOSED */
  async run(): Promise<void> {
    const pool = this.#pool
    const before = pool.generation
    const generation = ++this.#lastGeneration
    pool.generation = generation
    pool.resetRestarts()
    this.#events.emit('reload', { generation })
    try {
      // Searched again each time: an old worker that replaces a dead one meanwhile is outdated too.
      const outdated = (): WorkerHandle | undefined => pool.assigned.find((worker) => worker.generation < generation)
      for (let old = outdated(); old; old = outdated()) {
        this.#assertOpen()
        await pool.activateOne()
        if (!this.lingering?.keep(old)) pool.retire(old)
      }
      for (const worker of pool.standby) if (worker.generation < generation) pool.retire(worker)
      pool.trim()
      pool.fill()
    } catch (error) {
      this.#fail(generation, before, error)
    }
    const { path, version, revision } = pool.releases.of(generation)
    pool.releases.forgetBefore(generation)
    this.#events.emit('reloaded', { generation, path, version, revision })
    this.lingering?.reloaded()
  }

  /** Returns to the old generation. Workers that start from now on still run the new code, but count as old. */
  #fail(generation: number, before: number, cause: unknown): never {
    this.#pool.generation = before
    this.#assertOpen()
    this.lingering?.reloadFailed()
    this.#pool.trim()
    this.#pool.fill()
    const { message, cause: thrown } = cause as Error
    const text = `The new version did not start, the old one keeps running: ${withPlace(message, thrown)}`
    const error = new errorCodes.CLUSTERED_SERVER_RELOAD_FAILED(text, { cause })
    this.#events.emit('reloadFailed', { generation, error })
    throw error
  }
}
