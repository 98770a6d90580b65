import type { Metric } from '../ipc/messages.ts'
import type { WorkerState } from '../server-types.ts'
import { type AppMetrics, comment } from './metrics-text.ts'
import { aggregate } from './prom-client.ts'

/** Maximum milliseconds for a worker to send its metrics. After that only its latest counters are used. */
const TIMEOUT = 1000

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
        this.#failures.set(worker, failure)
        return
      }
      this.#file = file ?? this.#file
      // The counters of other workers are in the past already.
      if (this.#workers.has(worker) || this.#ended.has(worker)) this.#last.set(worker, metrics)
    })
    worker.once('exit', () => {
      this.#workers.delete(worker)
      // Final metrics may arrive after the exit, but only if the worker was ever requested to send some.
      if (this.#last.has(worker)) this.#ended.add(worker)
    })
  }

  async text(): Promise<string> {
    const loaded = [...this.#workers].filter(({ state }) => state !== 'starting')
    const received = new Set<MetricsSource>()
    this.#failures.clear()
    await Promise.all(
      loaded.map((worker) => worker.requestMetrics(TIMEOUT).then((isReceived) => isReceived && received.add(worker))),
    )
    await this.#mergeEnded()
    const isCurrent = (worker: MetricsSource): boolean => received.has(worker) && !this.#failures.has(worker)
    const last = [...this.#last].map(([worker, metrics]) => (isCurrent(worker) ? metrics : counters(metrics)))
    // Without metrics there is nothing to aggregate, and prom-client may not be installed.
    const all = [this.#past, ...last].filter(({ length }) => length > 0)
    const text = all.length === 0 ? '' : await (await aggregate(all, this.#file)).metrics()
    return [...this.#failures].map(([{ id }, failure]) => comment(`worker ${id}`, failure)).join('') + text
  }

  /** Merges the counters of all ended workers into one. */
  async #mergeEnded(): Promise<void> {
    const last = [...this.#ended].map((worker) => counters(this.#last.get(worker) ?? []))
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

/** The metrics that only grow. */
function counters(metrics: readonly Metric[]): readonly Metric[] {
  return metrics.filter(({ type }) => type === 'counter' || type === 'histogram')
}
