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
  registerCacheMetrics(apps, registers)
  return {
    nextOpened: (next) => void apps.add(next),
    nextClosed: (next) => void apps.delete(next),
    nextAnswered({ prefix }, { status, duration, aborted }) {
      const label = aborted || status === undefined ? 'aborted' : `${Math.floor(status / 100)}xx`
      durations.observe({ prefix, status: label }, duration / 1000)
    },
  }
}

interface Metric<Value> {
  readonly name: string
  readonly help: string
  readonly valueOf: (counts: Counts) => Value
}

const COUNTERS: readonly Metric<number | Readonly<Record<string, number>>>[] = [
  { name: 'next_memory_hits_total', help: 'Responses from the response cache', valueOf: ({ hits }) => hits },
  { name: 'next_memory_misses_total', help: 'Cacheable requests that Next served', valueOf: ({ misses }) => misses },
  {
    name: 'next_memory_bypasses_total',
    help: 'Requests that bypassed the response cache',
    valueOf: ({ bypasses }) => bypasses,
  },
  { name: 'next_memory_kept_total', help: 'Responses of Next that were cached', valueOf: ({ kept }) => kept },
  {
    name: 'next_memory_not_kept_total',
    help: 'Responses of Next that were not cached',
    valueOf: ({ notKept }) => notKept,
  },
  {
    name: 'next_memory_dropped_total',
    help: 'Cached responses that were deleted after a revalidation',
    valueOf: ({ dropped }) => dropped,
  },
]

const GAUGES: readonly Metric<number>[] = [
  { name: 'next_memory_entries', help: 'Responses in the response cache', valueOf: ({ entries }) => entries },
  { name: 'next_memory_bytes', help: 'Size of the response cache in bytes', valueOf: ({ bytes }) => bytes },
]

/** Registers metrics of response caches. They are read when they are collected, so hits cost no more than without. */
function registerCacheMetrics(apps: ReadonlySet<ObservedNext>, registers: Registry[]): void {
  const eachCache = (report: (prefix: string, counts: Counts) => void): void => {
    for (const { prefix, memory } of apps) {
      if (memory !== undefined) report(prefix, memory.counts)
    }
  }
  for (const { name, help, valueOf } of COUNTERS) {
    const counter = new Counter({
      name,
      help,
      labelNames: ['prefix', 'reason'],
      registers,
      collect() {
        counter.reset()
        eachCache((prefix, counts) => {
          const value = valueOf(counts)
          if (typeof value === 'number') counter.inc({ prefix }, value)
          else for (const [reason, count] of Object.entries(value)) counter.inc({ prefix, reason }, count)
        })
      },
    })
  }
  for (const { name, help, valueOf } of GAUGES) {
    const gauge = new Gauge({
      name,
      help,
      labelNames: ['prefix'],
      registers,
      collect() {
        gauge.reset()
        eachCache((prefix, counts) => gauge.set({ prefix }, valueOf(counts)))
      },
    })
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
