// The measurements of a phase, from its generator and from the operating system.

import { LatencyHistograms } from '../report/latency-histograms.ts'
import { type CpuReading, cpuBetween } from '../race/cpu-accounting.ts'
import { coresOf } from '../platform/machine-cpu.ts'
import { type TreeReading, useBetween } from '../platform/tree-usage.ts'
import { bottleneckOf } from '../statistics/measured-round.ts'
import type { PhaseRecord } from './load-messages.ts'
import type { LoadLatency, LoadPhase, LoadServer } from './load-report.ts'

/** The operating system's view of subject and generator at a time. Without a process of the subject, there is none. */
export interface LoadReading {
  readonly server: CpuReading
  readonly generator: TreeReading
}

/** The load of a phase, as people and the report have it. */
export type PhaseLoad = Pick<LoadPhase, 'load' | 'rate' | 'duration'>

/** One or more records as one phase, and the readings at its ends. */
export function measurePhase(
  load: PhaseLoad,
  records: readonly PhaseRecord[],
  readings: readonly [LoadReading, LoadReading] | undefined,
): LoadPhase {
  const sum = (value: (record: PhaseRecord) => number): number =>
    records.reduce((total, record) => total + value(record), 0)
  const max = (value: (record: PhaseRecord) => number): number => Math.max(...records.map(value))
  const responses = sum((record) => record.responses)
  const elapsed = sum((record) => record.elapsed)
  const span = sum((record) => record.span)
  const server = readings ? serverOf(readings, responses) : null
  const utilization = elapsed === 0 ? 0 : Math.min(1, sum((record) => record.busy) / elapsed)
  const message = records.find(({ error }) => error !== undefined)?.error
  return {
    ...load,
    responses,
    throughput: span === 0 ? 0 : (responses * 1000) / span,
    failures: {
      errors: sum(({ failures }) => failures.errors),
      timeouts: sum(({ failures }) => failures.timeouts),
      unexpectedStatus: sum(({ failures }) => failures.unexpectedStatus),
      ...(message === undefined ? {} : { message }),
    },
    latency: latencyOf(records, responses),
    server,
    generator: {
      utilization,
      lateness: max(({ lateness }) => lateness),
      connections: max(({ connections }) => connections),
    },
    limitedBy: bottleneckOf(server?.utilization ?? 0, utilization),
  }
}

function latencyOf(records: readonly PhaseRecord[], responses: number): LoadLatency | null {
  const histograms = new LatencyHistograms()
  for (const { histogram } of records) histograms.add({ subject: '', case: '' }, histogram)
  const latency = histograms.latencyOf('', '')
  if (!latency) return null
  const { percentiles } = latency
  // Beyond the known percentiles, there is only the maximum.
  const at = (percentile: number): number => (percentiles.find(([of]) => of === percentile) ?? percentiles.at(-1)!)[1]
  return {
    mean: records.reduce((sum, record) => sum + record.mean * record.responses, 0) / responses,
    ...{ p50: at(50), p90: at(90), p95: at(95), p99: at(99), max: at(100) },
    percentiles,
  }
}

function serverOf([before, after]: readonly [LoadReading, LoadReading], responses: number): LoadServer {
  const { cpu, busiest, time, others } = cpuBetween(before.server, after.server)
  const generator = useBetween(before.generator, after.generator).cpu
  const { rss, peakRss } = after.server.tree
  return {
    cpu: responses === 0 ? 0 : (cpu * 1000) / responses,
    utilization: Math.min(1, busiest / time),
    rss,
    peakRss,
    foreignCpu: coresOf(others - generator, time),
  }
}
