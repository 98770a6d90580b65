import { type AppMetrics, comment } from './metrics-text.ts'
import { aggregate, type Metric } from './prom-client.ts'
import type { WorkerProcess } from '../primary/worker-handle.ts'

/** Milliseconds that a worker may take to tell its metrics: without them, what it counted before stands. */
const PATIENCE = 1000

/** What workers have measured, as one. */
export class WorkerMetrics implements AppMetrics {
  readonly #workers = new Set<WorkerProcess>()
  /** What each has last said. */
  readonly #last = new Map<WorkerProcess, readonly Metric[]>()
  /** Those that have ended, and whose last words are not in `#past` yet. */
  readonly #ended = new Set<WorkerProcess>()
  /** What workers that have ended had counted: without it sums would fall with each of them. */
  #past: readonly Metric[] = []
  /** Why the registry of a worker failed when it was last asked. */
  readonly #failures = new Map<WorkerProcess, string>()
  /** The file of prom-client that workers have loaded. */
  #file: string | undefined

  add(worker: WorkerProcess): void {
    this.#workers.add(worker)
    worker.on('metrics', (metrics, file, failure) => {
      if (failure !== undefined) {
        this.#failures.set(worker, failure)
        return
      }
      this.#file = file ?? this.#file
      // Of one that has ended and is in the past already, it is too late.
      if (this.#workers.has(worker) || this.#ended.has(worker)) this.#last.set(worker, metrics)
    })
    worker.once('exit', () => {
      this.#workers.delete(worker)
      // Its last words may come after its end, but only if it was ever asked.
      if (this.#last.has(worker)) this.#ended.add(worker)
    })
  }

  async text(): Promise<string> {
    const asked = [...this.#workers].filter(({ state }) => state !== 'starting')
    const answered = new Set<WorkerProcess>()
    this.#failures.clear()
    await Promise.all(asked.map((worker) => worker.tellMetrics(PATIENCE).then((told) => told && answered.add(worker))))
    await this.#bury()
    const isCurrent = (worker: WorkerProcess): boolean => answered.has(worker) && !this.#failures.has(worker)
    const last = [...this.#last].map(([worker, metrics]) => (isCurrent(worker) ? metrics : counted(metrics)))
    // Without metrics nothing is to be added up, and prom-client may not be installed.
    const all = [this.#past, ...last].filter(({ length }) => length > 0)
    const text = all.length === 0 ? '' : await (await aggregate(all, this.#file)).metrics()
    return [...this.#failures].map(([{ id }, failure]) => comment(`worker ${id}`, failure)).join('') + text
  }

  /** What those that have ended had counted becomes one, however many they were. */
  async #bury(): Promise<void> {
    const last = [...this.#ended].map((worker) => counted(this.#last.get(worker) ?? []))
    for (const worker of this.#ended) this.#last.delete(worker)
    this.#ended.clear()
    const all = [this.#past, ...last].filter(({ length }) => length > 0)
    if (all.length < 2) {
      this.#past = all[0] ?? []
      return
    }
    const registry = await aggregate(all, this.#file)
    this.#past = await registry.getMetricsAsJSON()
  }
}

/** What only grows. */
function counted(metrics: readonly Metric[]): readonly Metric[] {
  return metrics.filter(({ type }) => type === 'counter' || type === 'histogram')
}
