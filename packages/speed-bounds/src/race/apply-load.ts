import type { LoadResult } from '../load/generator.ts'
import type { ResolvedCase, ResolvedLoad } from '../options/resolved.ts'
import { coresOf } from '../platform/machine-cpu.ts'
import type { TreeReading } from '../platform/tree-usage.ts'
import type { RunningSubject } from '../subject/running-subject.ts'
import { cpuBetween, type CpuUse, readCpu, untilIdle } from './cpu-accounting.ts'
import { deathOf } from './failed-requests.ts'
import type { StageContext } from './stage-context.ts'

/** Measurements of a subject under load, from the generator and the operating system. */
export interface LoadMeasurement {
  readonly result: LoadResult
  /** Microseconds per response. */
  readonly cpu: number
  readonly utilization: number
  readonly rss: number
  readonly peakRss: number
  readonly foreignCpu: number
  readonly stolenCpu: number
}

/** Puts a subject under load for one round, with `lead` milliseconds of load before it. */
export async function applyLoad(
  { generator, right, signal }: StageContext,
  run: RunningSubject,
  testCase: ResolvedCase,
  load: ResolvedLoad,
  lead = 0,
): Promise<LoadMeasurement> {
  const { status } = right.get(testCase.name)!
  let before = readCpu(run)
  await before
  const onBegin = (): void => void (before = readCpu(run))
  const target = { origin: run.origin, testCase, status, load }
  const result = await Promise.race([generator.run(target, signal, { milliseconds: lead, onBegin }), run.untilDeath])
  const after = await readCpu(run)
  const begin = await before
  if (run.died.aborted || after.tree.threads.size === 0) throw await deathOf(run)
  await untilIdle(run)
  return measurementOf(result, cpuBetween(begin, after), after.tree)
}

export function measurementOf(
  result: LoadResult,
  { cpu, busiest, time, others, stolen }: CpuUse,
  { rss, peakRss }: TreeReading,
): LoadMeasurement {
  return {
    result,
    cpu: (cpu * 1000) / result.responses,
    utilization: Math.min(1, busiest / result.elapsed),
    rss,
    peakRss,
    foreignCpu: coresOf(others - result.cpu, time),
    stolenCpu: coresOf(stolen, time),
  }
}
