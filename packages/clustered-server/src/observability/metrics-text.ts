import type { ClusteredServer, ClusterStatus, WorkerStatus } from '../server-types.ts'
import type { EventCounts } from './event-counts.ts'

/** Milliseconds for which metrics are cached. */
const CACHE_MS = 1000

/** The app's own metrics. */
export interface AppMetrics {
  /** In the text format of Prometheus. */
  text: () => Promise<string>
}

/** The metrics of a server and those of its app, in the text format of Prometheus. */
export class MetricsText {
  readonly #server: ClusteredServer & { readonly appMetrics: AppMetrics }
  readonly #counts: EventCounts
  #last: Promise<string> | undefined
  #lastAt = -Infinity

  constructor(server: ClusteredServer & { readonly appMetrics: AppMetrics }, counts: EventCounts) {
    this.#server = server
    this.#counts = counts
  }

  get(): Promise<string> {
    const now = performance.now()
    if (!this.#last || now - this.#lastAt > CACHE_MS) {
      this.#lastAt = now
      this.#last = this.#collect()
    }
    return this.#last
  }

  async #collect(): Promise<string> {
    // A failure in the app must not hide the metrics of the server.
    const app = await this.#server.appMetrics.text().catch((error: unknown) => comment('the app', error))
    return clusterMetrics(this.#server.status(), this.#counts) + app
  }
}

/** A comment line that says whose metrics are missing and why. */
export function comment(whose: string, why: unknown): string {
  const text = why instanceof Error ? why.message : String(why)
  return `# Metrics of ${whose} are missing: ${text.split('\n', 1)[0]}\n`
}

/** Metrics of the server, in the text format of Prometheus. */
function clusterMetrics(status: ClusterStatus, counts: EventCounts): string {
  return [...stateMetrics(status), ...workerMetrics(status), ...countMetrics(counts)].join('')
}

function stateMetrics({ ready, generation, workers, lingering = [] }: ClusterStatus): string[] {
  const states = ['starting', 'standby', 'active', 'lingering', 'retiring'].map((state): Sample => {
    const count = workers.filter((worker) => worker.state === state).length
    return [`{state="${state}"}`, count]
  })
  return [
    metric('ready', 'gauge', 'Whether the server accepts connections.', [['', Number(ready)]]),
    metric('generation', 'gauge', 'Counts up from 1 with each reload.', [['', generation]]),
    metric('workers', 'gauge', 'Workers by state.', states),
    metric(
      'lingering_seconds',
      'gauge',
      'Time until the workers of an older build retire.',
      lingering.map((build) => [`{generation="${build.generation}"}`, Math.max(0, build.until - Date.now()) / 1000]),
    ),
  ]
}

function workerMetrics({ workers }: ClusterStatus): string[] {
  const gauge = (name: string, help: string, value: (worker: WorkerStatus) => number): string =>
    metric(
      `worker_${name}`,
      'gauge',
      help,
      workers.map((worker) => [`{worker="${worker.id}"}`, value(worker)]),
    )
  return [
    gauge('connections', 'Open connections.', ({ connections }) => connections),
    gauge('rss_bytes', 'Resident memory.', ({ rss }) => rss),
    gauge('heap_used_bytes', 'Used heap of V8.', ({ heapUsed }) => heapUsed),
    gauge('event_loop_utilization_ratio', 'Event loop utilization.', ({ utilization }) => utilization),
  ]
}

function countMetrics(counts: EventCounts): string[] {
  return [
    metric('worker_starts_total', 'counter', 'Started worker processes.', [['', counts.starts]]),
    metric('worker_exits_total', 'counter', 'Ended worker processes; expected is false for a crash.', [
      ['{expected="true"}', counts.expectedExits],
      ['{expected="false"}', counts.unexpectedExits],
    ]),
    metric('worker_blocked_total', 'counter', 'Workers killed because of a blocked event loop.', [
      ['', counts.blocked],
    ]),
    metric('workers_recycled_total', 'counter', 'Workers replaced because of a limit.', [['', counts.recycled]]),
    metric('crash_loops_total', 'counter', 'Crash loops: no more workers were started.', [['', counts.crashLoops]]),
    metric('reloads_total', 'counter', 'Reloads; done is false for failed ones.', [
      ['{done="true"}', counts.reloads],
      ['{done="false"}', counts.failedReloads],
    ]),
  ]
}

type Sample = readonly [labels: string, value: number]

function metric(name: string, type: 'counter' | 'gauge', help: string, samples: readonly Sample[]): string {
  const lines = samples.map(([labels, value]) => `clustered_server_${name}${labels} ${value}\n`)
  return `# HELP clustered_server_${name} ${help}\n# TYPE clustered_server_${name} ${type}\n${lines.join('')}`
}
