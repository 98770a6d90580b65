import type { Metric } from '../options/types.ts'
import { megabytes, microseconds, milliseconds, perSecond, timeOfCall } from './format.ts'

/** Title and unit of each metric. */
export type MetricFormats = Readonly<Record<Metric, { title: string; format: (value: number) => string }>>

export const METRIC_FORMATS: MetricFormats = {
  cpu: { title: 'CPU per request', format: microseconds },
  throughput: { title: 'requests per second', format: perSecond },
  p99: { title: 'p99 latency', format: milliseconds },
  rss: { title: 'memory', format: megabytes },
  peakRss: { title: 'peak memory', format: megabytes },
}

/** The same for functions. */
export const CALL_FORMATS: MetricFormats = {
  ...METRIC_FORMATS,
  cpu: { title: 'CPU per call', format: timeOfCall },
  throughput: { title: 'calls per second', format: perSecond },
}
