// Prometheus metrics by prom-client. Labels are prefixes, status classes and reasons, so clients cannot create new series.

import { Counter, Gauge, Histogram, register, type Registry } from 'prom-client'
import { checkOptions, custom, object, optional, type OptionsSchema } from 'checked-options'
import { InvalidOptionError } from '../errors.ts'
import type { ResponseCacheStats } from '../response-cache/cache-counters.ts'
import type { NextObserver, ObservedNext } from './observers.ts'

/** Options of {@link prometheusObserver}. */
export interface PrometheusObserverOptions {
  /** Registry of the metrics. @default prom-client's `register` */
  registry?: Registry
  /** Upper bounds of the duration buckets, in seconds. @default 0.001 to 5, about doubling */
  buckets?: readonly number[]
}

/** Default buckets, from a small handler to a page that waits for other services. */
const BUCKETS = [0.001, 0.002, 0.005, 0.01, 0.02, 0.05, 0.1, 0.2, 0.5, 1, 2, 5] as const

const schema: OptionsSchema<PrometheusObserverOptions> = object({
  registry: optional(
    custom<Registry>(
      'a registry of prom-client',
      (value) => typeof value === 'object' && value !== null && 'registerMetric' in value,
    ),
  ),
  buckets: optional(custom<readonly number[]>('an array of ascending numbers of seconds', areBuckets)),
})

function areBuckets(value: unknown): boolean {
  return (
    Array.isArray(value) &&
    value.length > 0 &&
    value.every((bound, index) => Number.isFinite(bound) && bound > (value[index - 1] ?? 0))
  )
}

/**
 * Creates an observer with Prometheus metrics: durations of Next's responses, and counters of the response cache. Use one
 * observer for all servers of a process, because a registry takes each metric once.
 *
 * @throws NEXT_ON_FASTIFY_INVALID_OPTION
 *
 * @example
 * const registry = new Registry()
 * const app = await createNextOnFastify({ dir: './web', observers: [prometheusObserver({ registry })] })
 * app.get('/metrics', async (request, reply) => reply.type(registry.contentType).send(await registry.metrics()))
 */
export function prometheusObserver(options: PrometheusObserverOptions = {}): NextObserver {
  const { registry = register, buckets = BUCKETS } = checkOptions(
    schema,
    options,
    (message) => new InvalidOptionError(message),
  )
  const registers = [registry]
  const durations = new Histogram({
    name: 'next_response_duration_seconds',
    help: 'Time from the call of Next to the end of its response',
    labelNames: ['prefix', 'status'],
    buckets: [...buckets],
    registers,
  })

  const apps = new Set<ObservedNext>()
  /** A worker sends its last metrics after its app has closed, so the counters of that app must not fall. */
  const closed: CacheOfApp[] = []
  registerCacheMetrics(apps, closed, registers)
  return {
    nextOpened: (next) => void apps.add(next),
    nextClosed: (next) => {
      if (apps.delete(next)) closed.push(...cachesOf([next]))
    },
    requestServed({ prefix }, { status, duration, aborted }) {
      const label = aborted || status === undefined ? 'aborted' : `${Math.floor(status / 100)}xx`
      durations.observe({ prefix, status: label }, duration / 1000)
    },
  }
}

interface Metric<Value> {
  readonly name: string
  readonly help: string
  readonly valueOf: (stats: ResponseCacheStats) => Value
}

const COUNTERS: readonly Metric<number | Readonly<Record<string, number>>>[] = [
  { name: 'next_response_cache_hits_total', help: 'Responses from the response cache', valueOf: ({ hits }) => hits },
  {
    name: 'next_response_cache_misses_total',
    help: 'Cacheable requests that Next served',
    valueOf: ({ misses }) => misses,
  },
  {
    name: 'next_response_cache_bypasses_total',
    help: 'Requests that bypassed the response cache',
    valueOf: ({ bypasses }) => bypasses,
  },
  {
    name: 'next_response_cache_stored_total',
    help: 'Responses of Next that were stored',
    valueOf: ({ stored }) => stored,
  },
  {
    name: 'next_response_cache_not_stored_total',
    help: 'Responses of Next that were not stored',
    valueOf: ({ notStored }) => notStored,
  },
  {
    name: 'next_response_cache_invalidated_total',
    help: 'Cached responses that were deleted after a revalidation',
    valueOf: ({ invalidated }) => invalidated,
  },
]

const GAUGES: readonly Metric<number>[] = [
  { name: 'next_response_cache_entries', help: 'Responses in the response cache', valueOf: ({ entries }) => entries },
  { name: 'next_response_cache_bytes', help: 'Size of the response cache in bytes', valueOf: ({ bytes }) => bytes },
]

/** The response cache of an app at a time. */
interface CacheOfApp {
  readonly prefix: string
  readonly cache: ResponseCacheStats
}

function cachesOf(apps: Iterable<ObservedNext>): CacheOfApp[] {
  return [...apps].flatMap(({ prefix, stats }) => {
    const { responseCache: cache } = stats()
    return cache === undefined ? [] : [{ prefix, cache }]
  })
}

/** Registers metrics of response caches. They are read when they are collected, so hits cost no more than without. */
function registerCacheMetrics(
  apps: ReadonlySet<ObservedNext>,
  closed: readonly CacheOfApp[],
  registers: Registry[],
): void {
  for (const { name, help, valueOf } of COUNTERS) {
    const counter = new Counter({
      name,
      help,
      labelNames: ['prefix', 'reason'],
      registers,
      collect() {
        counter.reset()
        for (const { prefix, cache } of [...closed, ...cachesOf(apps)]) {
          const value = valueOf(cache)
          if (typeof value === 'number') counter.inc({ prefix }, value)
          else for (const [reason, count] of Object.entries(value)) counter.inc({ prefix, reason }, count)
        }
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
        for (const { prefix, cache } of cachesOf(apps)) gauge.set({ prefix }, valueOf(cache))
      },
    })
  }
}
