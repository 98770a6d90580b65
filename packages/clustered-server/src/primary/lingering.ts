import type { EventEmitter } from 'node:events'
import type { OtherBuild } from '../ipc/messages.ts'
import type { LingerOptions, Logger } from '../options/types.ts'
import type { ClusteredServerEvents, LingerEndReason, LingeringBuild } from '../server-types.ts'
import type { WorkerHandle } from './worker-handle.ts'
import type { WorkerPool } from './worker-pool.ts'

const NO_BUILD =
  'the option "linger" has no effect, because the app names no build: see its warnings, or call identifyBuild() with an id before it has loaded'

/** An older generation whose workers linger. */
interface Term extends Omit<LingeringBuild, 'workers'> {
  readonly timer: NodeJS.Timeout
}

/** Keeps workers of older builds for a while, and tells all workers where requests for other builds go. */
export class Lingering {
  readonly #limits: Required<LingerOptions>
  readonly #pool: WorkerPool
  readonly #events: EventEmitter<ClusteredServerEvents>
  readonly #logger: Logger | undefined
  readonly #terms = new Map<number, Term>()
  /** Generations with a warning. */
  readonly #warned = new Set<number>()
  #builds: readonly OtherBuild[] = []

  constructor(
    limits: Required<LingerOptions>,
    pool: WorkerPool,
    events: EventEmitter<ClusteredServerEvents>,
    logger: Logger | undefined,
  ) {
    this.#limits = limits
    this.#pool = pool
    this.#events = events
    this.#logger = logger
    pool.on('start', (worker) => this.#watch(worker))
  }

  /** Older builds that are served, the oldest one first. */
  get builds(): LingeringBuild[] {
    return [...this.#terms.values()].map((term) => this.#describe(term))
  }

  /** Makes a worker of an older build linger where it would retire. Returns false if it is to retire. */
  keep(old: WorkerHandle): boolean {
    if (old.state !== 'active' || !this.#isNeeded(old)) return false
    const left = this.#pool.active.filter(({ generation }) => generation === old.generation)
    if (left.length > this.#limits.workers) return false
    old.linger()
    return true
  }

  /** A reload has succeeded: the time of the builds that it has replaced begins. */
  reloaded(): void {
    const since = Date.now()
    for (const worker of this.#workers()) {
      const { generation, build } = worker
      if (this.#terms.has(generation)) continue
      const timer = setTimeout(() => this.#end(generation, 'time'), this.#limits.time)
      const term = { generation, ids: build!.ids, since, until: since + this.#limits.time, timer }
      this.#terms.set(generation, term)
      this.#events.emit('lingerStart', this.#describe(term))
    }
    for (const generation of [...this.#terms.keys()].slice(0, -this.#limits.builds)) this.#end(generation, 'builds')
  }

  /** A reload has failed: workers of the current build linger no longer. */
  reloadFailed(): void {
    for (const worker of this.#workers())
      if (!this.#terms.has(worker.generation)) this.#end(worker.generation, 'reloadFailed')
  }

  stop(): void {
    for (const generation of this.#terms.keys()) this.#end(generation, 'closing')
  }

  #watch(worker: WorkerHandle): void {
    worker.once('build', () => {
      if (this.#builds.length > 0) worker.sendBuilds(this.#builds)
      if (worker.build!.ids.length === 0) this.#warn(worker.generation, NO_BUILD)
    })
    for (const event of ['active', 'lingering', 'retiring', 'exit'] as const) worker.once(event, () => this.#update())
    worker.once('exit', () => {
      const { generation } = worker
      if (this.#terms.has(generation) && this.#workers(generation).length === 0) this.#end(generation, 'died')
    })
  }

  #workers(ofGeneration?: number): WorkerHandle[] {
    return [...this.#pool.all].filter(
      ({ role, generation }) => role === 'lingering' && (ofGeneration === undefined || generation === ofGeneration),
    )
  }

  #describe({ generation, ids, since, until }: Omit<Term, 'timer'>): LingeringBuild {
    return { generation, ids, workers: this.#workers(generation).length, since, until }
  }

  /** Whether the build of an old worker differs from the new one, and is intact. */
  #isNeeded({ generation, build: old }: WorkerHandle): boolean {
    const { build } = this.#pool.active.findLast((worker) => worker.generation > generation) ?? {}
    if (!old || !build || old.ids.length === 0 || build.ids.length === 0) return false
    const shared = old.ids.find((id) => build.ids.includes(id))
    const isOverwritten = old.folders.some((path) => build.folders.includes(path))
    if (old.ids.every((id) => build.ids.includes(id))) {
      // The same build may have been deployed again, to the same folder.
      if (old.folders.length > 0 && !isOverwritten)
        this.#warn(
          generation,
          `generation ${generation} cannot linger, because a newer build also has the id "${shared}"`,
        )
      return false
    }
    if (isOverwritten) {
      const text = `generation ${generation} cannot linger, because a newer build has replaced it in ${old.folders.join(', ')}`
      this.#warn(generation, `${text}: deploy each build to a folder of its own`)
      return false
    }
    if (shared !== undefined)
      this.#warn(
        generation,
        `a newer build also has the id "${shared}": requests with it do not reach generation ${generation}`,
      )
    return true
  }

  #warn(generation: number, text: string): void {
    if (this.#warned.has(generation)) return
    this.#warned.add(generation)
    this.#logger?.warn({ generation }, text)
  }

  #end(generation: number, reason: LingerEndReason): void {
    const term = this.#terms.get(generation)
    clearTimeout(term?.timer)
    this.#terms.delete(generation)
    for (const worker of this.#workers(generation)) this.#pool.retire(worker, false)
    if (term) this.#events.emit('lingerEnd', { generation, reason })
  }

  /** Tells all workers which builds are served, if that has changed. */
  #update(): void {
    const serving = [...this.#pool.all].filter(
      ({ state, build }) => build && build.ids.length > 0 && (state === 'active' || state === 'lingering'),
    )
    const byIds = Map.groupBy(
      serving.toSorted((a, b) => b.generation - a.generation),
      ({ build }) => build!.ids.join(),
    )
    const builds = [...byIds.values()].map((workers) => ({
      ids: workers[0]!.build!.ids,
      sockets: workers.flatMap(({ buildSocket }) => buildSocket ?? []),
    }))
    if (JSON.stringify(builds) === JSON.stringify(this.#builds)) return
    this.#builds = builds
    for (const worker of this.#pool.all) if (worker.build) worker.sendBuilds(builds)
  }
}
