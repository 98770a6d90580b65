import type { AppMetrics } from './metrics-text.ts'
import { aggregate, type Metric } from './prom-client.ts'
import type { WorkerProcess } from './worker-process.ts'

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
  /** The file of prom-client that workers have loaded. */
  #file: string | undefined

  add(worker: WorkerProcess): void {
    this.#workers.add(worker)
    worker.on('metrics', (metrics, file) => {
      this.#file = file
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
    await Promise.all(asked.map((worker) => worker.tellMetrics(PATIENCE).then((told) => told && answered.add(worker))))
    await this.#bury()
    const all = [...this.#last].map(([worker, metrics]) => (answered.has(worker) ? metrics : counted(metrics)))
    if (all.length === 0 && this.#past.length === 0) return ''
    const registry = await aggregate([this.#past, ...all], this.#file)
    return registry.metrics()
  }

  /** What those that have ended had counted becomes one, however many they were. */
  async #bury(): Promise<void> {
    const last = [...this.#ended].map((worker) => this.#last.get(worker)).filter((metrics) => metrics !== undefined)
    for (const worker of this.#ended) this.#last.delete(worker)
    this.#ended.clear()
    if (last.length === 0) return
    const registry = await aggregate([this.#past, ...last.map(counted)], this.#file)
    this.#past = await registry.getMetricsAsJSON()
  }
}

/** What only grows. */
function counted(metrics: readonly Metric[]): readonly Metric[] {
  return metrics.filter(({ type }) => type === 'counter' || type === 'histogram')
}
