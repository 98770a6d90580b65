// Options of the Prometheus observer. Only types of prom-client are imported.

import { custom, object, optional, type OptionsSchema } from 'checked-options'
import type { Registry } from 'prom-client'

/** Options of {@link prometheusObserver}. */
export interface PrometheusObserverOptions {
  /** Registry of the metrics. @default prom-client's `register` */
  registry?: Registry
  /** Upper bounds of the buckets of durations, in seconds. @default 0.001 to 5, about doubling */
  buckets?: readonly number[]
}

/** From an upstream on the same machine to beyond the usual deadline. */
const BUCKETS = [0.001, 0.002, 0.005, 0.01, 0.02, 0.05, 0.1, 0.2, 0.5, 1, 2, 5] as const

export const prometheusSchema: OptionsSchema<
  PrometheusObserverOptions,
  PrometheusObserverOptions & { readonly buckets: readonly number[] }
> = object({
  registry: optional(
    custom<Registry>('a registry of prom-client', (value) => {
      return typeof (value as Partial<Registry> | null)?.registerMetric === 'function'
    }),
  ),
  buckets: optional(custom<readonly number[]>('ascending positive numbers', isAscending), BUCKETS),
})

function isAscending(value: unknown): boolean {
  if (!Array.isArray(value) || value.length === 0) return false
  return value.every((bound, index) => Number.isFinite(bound) && bound > (value[index - 1] ?? 0))
}
