import type { ClusteredServer, ClusterStatus } from '../types.ts'
import type { EventCounts } from './event-counts.ts'

/** Milliseconds that metrics are good for: many who ask at once are one. */
const FRESH = 1000

/** The metrics that the app has itself. */
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
    if (!this.#last || now - this.#lastAt > FRESH) {
      this.#lastAt = now
      this.#last = this.#collect()
    }
    return this.#last
  }

  async #collect(): Promise<string> {
    // The figures of the server matter most when something of the app is broken.
    const app = await this.#server.appMetrics.text().catch((error: unknown) => comment('the app', error))
    return clusterMetrics(this.#server.status(), this.#counts) + app
  }
}

/** A line that says whose metrics are missing and why; Prometheus skips it. */
export function comment(whose: string, why: unknown): string {
  const text = why instanceof Error ? why.message : String(why)
  return `# Metrics of ${whose} are missing: ${text.split('\n', 1)[0]}\n`
}

/** Its figures by worker, and what has happened. */
function clusterMetrics({ ready, generation, workers }: ClusterStatus, counts: EventCounts): string {
  const inState = (state: string): number => workers.filter((worker) => worker.state === state).length
  const ofWorkers = (value: (worker: ClusterStatus['workers'][number]) => number): Sample[] =>
    workers.map((worker) => [`{worker="${worker.id}"}`, value(worker)])
  return [
    metric('ready', 'gauge', 'Whether new connections are taken, and will be.', [['', Number(ready)]]),
    metric('generation', 'gauge', 'Counts up from 1 with each reload.', [['', generation]]),
    metric(
      'workers',
      'gauge',
      'Workers by state.',
      ['starting', 'spare', 'active', 'retiring'].map((state) => [`{state="${state}"}`, inState(state)]),
    ),
    metric(
      'worker_connections',
      'gauge',
      'Connections that are open.',
      ofWorkers(({ connections }) => connections),
    ),
    metric(
      'worker_rss_bytes',
      'gauge',
      'Resident memory.',
      ofWorkers(({ rss }) => rss),
    ),
    metric(
      'worker_heap_used_bytes',
      'gauge',
      "V8's heap in use.",
      ofWorkers(({ heapUsed }) => heapUsed),
    ),
    metric(
      'worker_event_loop_utilization_ratio',
      'gauge',
      'The share of time in which the event loop had work.',
      ofWorkers(({ utilization }) => utilization),
    ),
    metric('worker_starts_total', 'counter', 'Processes that were started.', [['', counts.starts]]),
    metric('worker_exits_total', 'counter', 'Processes that have ended, and whether they were told to.', [
      ['{expected="true"}', counts.expectedExits],
      ['{expected="false"}', counts.unexpectedExits],
    ]),
    metric('worker_stuck_total', 'counter', 'Workers whose event loop stood still.', [['', counts.stuck]]),
    metric('workers_recycled_total', 'counter', 'Workers that have reached a limit.', [['', counts.recycled]]),
    metric('crash_loops_total', 'counter', 'Times that no more workers were started, as all died soon.', [
      ['', counts.crashLoops],
    ]),
    metric('reloads_total', 'counter', 'Reloads, and whether the new workers have taken over.', [
      ['{done="true"}', counts.reloads],
      ['{done="false"}', counts.failedReloads],
    ]),
  ].join('')
}

type Sample = readonly [labels: string, value: number]

function metric(name: string, type: 'counter' | 'gauge', help: string, samples: readonly Sample[]): string {
  const lines = samples.map(([labels, value]) => `clustered_server_${name}${labels} ${value}\n`)
  return `# HELP clustered_server_${name} ${help}\n# TYPE clustered_server_${name} ${type}\n${lines.join('')}`
}
