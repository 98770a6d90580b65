import type { Metric } from '../options/types.ts'
import { megabytes, microseconds, milliseconds, perSecond } from './format.ts'

/** Title and unit of each metric. */
export const METRIC_FORMATS: Readonly<Record<Metric, { title: string; format: (value: number) => string }>> = {
  cpu: { title: 'CPU per request', format: microseconds },
  throughput: { title: 'requests per second', format: perSecond },
  p99: { title: 'p99 latency', format: milliseconds },
  rss: { title: 'memory', format: megabytes },
  peakRss: { title: 'peak memory', format: megabytes },
}
