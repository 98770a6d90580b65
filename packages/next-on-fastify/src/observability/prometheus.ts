// Metrics of what Next answers and of what is kept, by prom-client. Labels are prefixes of apps, classes of status and
// reasons that the memory has: clients cannot make new series.

import { Counter, Gauge, Histogram, register, type Registry } from 'prom-client'
import { InvalidOptionError } from '../errors.ts'
import type { NextMemory } from '../response-cache/response-cache.ts'
import type { NextObserver, ObservedNext } from './observers.ts'

/** Options of {@link prometheusObserver}. */
export interface PrometheusObserverOptions {
  /** Where the metrics are registered. @default prom-client's `register` */
  registry?: Registry
  /** The upper bounds of the buckets of durations, in seconds. @default 0.001 to 5, about doubling */
  buckets?: readonly number[]
}

/** From a small handler to a page that waits for others. */
const BUCKETS = [0.001, 0.002, 0.005, 0.01, 0.02, 0.05, 0.1, 0.2, 0.5, 1, 2, 5] as const

type Counts = NextMemory['counts']

/**
 * Times what Next answers, and shows what the memory counts, for Prometheus. One observer serves all Next apps of a
 * process: a registry takes each metric once.
 *
 * @throws NEXT_ON_FASTIFY_INVALID_OPTION
 *
 * @example
 * const registry = new Registry()
 * const app = await createNextOnFastify({ dir: './web', memory: true, observers: [prometheusObserver({ registry })] })
 * app.get('/metrics', async (request, reply) => reply.type(registry.contentType).send(await registry.metrics()))
 */
export function prometheusObserver(options: PrometheusObserverOptions = {}): NextObserver {
  const { registry = register, buckets = BUCKETS } = options
  checkOptions(options, buckets)
  const registers = [registry]
  const durations = new Histogram({
    name: 'next_answer_duration_seconds',
    help: 'How long Next took to answer, to the end of what streams',
    labelNames: ['prefix', 'status'],
    buckets: [...buckets],
    registers,
  })

  const apps = new Set<ObservedNext>()
  const eachMemory = (tell: (prefix: string, counts: Counts) => void): void => {
    for (const { prefix, memory } of apps) {
      if (memory !== undefined) tell(prefix, memory.counts)
    }
  }
  /** What the memory counts is read when it is asked for: a hit costs no more than without metrics. */
  const counter = (
    name: string,
    help: string,
    countOf: (counts: Counts) => number | Readonly<Record<string, number>>,
  ): Counter<'prefix' | 'reason'> =>
    new Counter({
      name,
      help,
      labelNames: ['prefix', 'reason'],
      registers,
      collect() {
        this.reset()
        eachMemory((prefix, counts) => {
          const found = countOf(counts)
          if (typeof found === 'number') this.inc({ prefix }, found)
          else for (const [reason, count] of Object.entries(found)) this.inc({ prefix, reason }, count)
        })
      },
    })
  const gauge = (name: string, help: string, valueOf: (counts: Counts) => number): Gauge<'prefix'> =>
    new Gauge({
      name,
      help,
      labelNames: ['prefix'],
      registers,
      collect() {
        this.reset()
        eachMemory((prefix, counts) => this.set({ prefix }, valueOf(counts)))
      },
    })
  counter('next_memory_hits_total', 'Answers from memory', ({ hits }) => hits)
  counter(
    'next_memory_misses_total',
    'Requests that could have been answered from memory, and were answered by Next',
    ({ misses }) => misses,
  )
  counter('next_memory_bypasses_total', 'Requests that are none for the memory', ({ bypasses }) => bypasses)
  counter('next_memory_kept_total', 'Answers of Next that were kept', ({ kept }) => kept)
  counter('next_memory_not_kept_total', 'Answers of Next that were not kept', ({ notKept }) => notKept)
  counter(
    'next_memory_dropped_total',
    'Answers that were dropped since something was revalidated',
    ({ dropped }) => dropped,
  )
  gauge('next_memory_entries', 'Answers that are kept now', ({ entries }) => entries)
  gauge('next_memory_bytes', 'Bytes of the answers that are kept now', ({ bytes }) => bytes)

  return {
    nextOpened: (next) => void apps.add(next),
    nextClosed: (next) => void apps.delete(next),
    nextAnswered({ prefix }, { status, duration, aborted }) {
      const its = aborted || status === undefined ? 'aborted' : `${Math.floor(status / 100)}xx`
      durations.observe({ prefix, status: its }, duration / 1000)
    },
  }
}

function checkOptions(options: PrometheusObserverOptions, buckets: readonly number[]): void {
  const unknown = Object.keys(options).find((name) => name !== 'registry' && name !== 'buckets')
  if (unknown !== undefined) {
    throw new InvalidOptionError(
      `Expected \`prometheusObserver\` to have some of registry, buckets, got \`${unknown}\``,
    )
  }
  const { registry } = options
  if (registry !== undefined && typeof registry.registerMetric !== 'function') {
    throw new InvalidOptionError('Expected `registry` to be a registry of prom-client, got something else')
  }
  const rises =
    Array.isArray(buckets) &&
    buckets.length > 0 &&
    buckets.every((bound, index) => Number.isFinite(bound) && bound > (buckets[index - 1] ?? 0))
  if (!rises) {
    throw new InvalidOptionError(`Expected \`buckets\` to be rising numbers of seconds, got ${JSON.stringify(buckets)}`)
  }
}
