import type { Metric } from '../ipc/messages.ts'
import type { WorkerState } from '../server-types.ts'
import { type AppMetrics, comment } from './metrics-text.ts'
import { aggregate } from './prom-client.ts'

/** Maximum milliseconds for a worker to send its metrics. After that only its latest counters are used. */
const TIMEOUT = 1000
/** Maximum number of ended workers whose counters are kept separately. */
const MAX_ENDED = 8

interface MetricsEvents {
  metrics: [metrics: readonly Metric[], file: string | undefined, failure: string | undefined]
  exit: [unknown]
}

/** A worker as a source of metrics. */
interface MetricsSource {
  readonly id: number
  readonly state: WorkerState
  requestMetrics: (timeout: number) => Promise<boolean>
  on: (event: 'metrics', listener: (...args: MetricsEvents['metrics']) => void) => unknown
  once: (event: 'exit', listener: () => void) => unknown
}

/** The app's metrics, aggregated over all workers. */
export class AppMetricsOfWorkers implements AppMetrics {
  readonly #workers = new Set<MetricsSource>()
  /** Latest metrics of each worker. */
  readonly #last = new Map<MetricsSource, readonly Metric[]>()
  /** Ended workers whose counters are not in `#past` yet. */
  readonly #ended = new Set<MetricsSource>()
  /** The latest merge. Each one starts from the result of the one before. */
  #merged: Promise<void> = Promise.resolve()
  /** Counters of ended workers: without them the sums would fall. */
  #past: readonly Metric[] = []
  /** Why the registry of a worker failed at the latest request. */
  readonly #failures = new Map<MetricsSource, string>()
  /** File of the workers' prom-client. */
  #file: string | undefined

  add(worker: MetricsSource): void {
    this.#workers.add(worker)
    worker.on('metrics', (metrics, file, failure) => {
      if (failure !== undefined) {
        if (this.#workers.has(worker)) this.#failures.set(worker, failure)
        return
      }
      this.#file = file ?? this.#file
      // The counters of other workers are in the past already.
      if (this.#workers.has(worker) || this.#ended.has(worker)) this.#last.set(worker, metrics)
    })
    worker.once('exit', () => {
      this.#workers.delete(worker)
      this.#failures.delete(worker)
      // The final metrics of a worker may arrive after its exit. So only older ones are merged before the next scrape.
      this.#ended.add(worker)
      if (this.#ended.size > MAX_ENDED) void this.#merge([...this.#ended].slice(0, MAX_ENDED / 2)).catch(() => {})
    })
  }

  async text(): Promise<string> {
    const loaded = [...this.#workers].filter(({ state }) => state !== 'starting')
    const received = new Set<MetricsSource>()
    this.#failures.clear()
    await Promise.all(
      loaded.map((worker) => worker.requestMetrics(TIMEOUT).then((isReceived) => isReceived && received.add(worker))),
    )
    await this.#merge([...this.#ended])
    const isCurrent = (worker: MetricsSource): boolean => received.has(worker) && !this.#failures.has(worker)
    const last = [...this.#last].map(([worker, metrics]) => (isCurrent(worker) ? metrics : counters(metrics)))
    // Without metrics there is nothing to aggregate, and prom-client may not be installed.
    const all = [this.#past, ...last].filter(({ length }) => length > 0)
    const text = all.length === 0 ? '' : await (await aggregate(all, this.#file)).metrics()
    return [...this.#failures].map(([{ id }, failure]) => comment(`worker ${id}`, failure)).join('') + text
  }

  /** Merges the counters of ended workers into one, after earlier merges. */
  #merge(ended: readonly MetricsSource[]): Promise<void> {
    for (const worker of ended) this.#ended.delete(worker)
    this.#merged = this.#merged.catch(() => {}).then(() => this.#addToPast(ended))
    return this.#merged
  }

  async #addToPast(ended: readonly MetricsSource[]): Promise<void> {
    const last = ended.map((worker) => counters(this.#last.get(worker) ?? []))
    const all = [this.#past, ...last].filter(({ length }) => length > 0)
    try {
      this.#past = all.length < 2 ? (all[0] ?? []) : await (await aggregate(all, this.#file)).getMetricsAsJSON()
    } finally {
      // At the same time as above: a worker must not be missing from a scrape, nor counted twice.
      for (const worker of ended) this.#last.delete(worker)
    }
  }
}

/** The metrics that only grow. */
function counters(metrics: readonly Metric[]): readonly Metric[] {
  return metrics.filter(({ type }) => type === 'counter' || type === 'histogram')
}
