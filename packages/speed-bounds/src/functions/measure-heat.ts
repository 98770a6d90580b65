import type { ResolvedFunctionRace } from '../options/function-options.ts'
import type { Progress } from '../options/types.ts'
import { exceedsForeignCpu } from '../statistics/foreign-cpu.ts'
import type { Round } from '../statistics/measured-round.ts'
import type { Supervisor } from '../subject/supervisor.ts'
import type { FunctionMeasurement } from './process-messages.ts'
import { type RacedFunctions, reportedError } from './raced-functions.ts'
import { runFunctionProcess } from './run-function-process.ts'

/** Usual milliseconds from the start of a process to its first call, and to its end. */
const OVERHEAD = 200

/** Milliseconds of this many processes. */
export function usualTime({ warmUp, duration }: ResolvedFunctionRace, processes: number): number {
  return processes * (warmUp + duration + OVERHEAD)
}

/** The work of one call of a method. */
export interface Session {
  readonly race: ResolvedFunctionRace
  readonly supervisor: Supervisor
  /** Aborts when the caller wants it, with its reason. */
  readonly signal: AbortSignal
  /** Aborts when the budget is spent. */
  readonly timeout: AbortSignal
  /** performance.now() at that time. */
  readonly end: number
}

/** One process of each of these functions, in this order. */
export interface Heat {
  readonly functions: RacedFunctions
  readonly names: readonly string[]
  /** Number of the heat, from 1. */
  readonly number: number
  readonly onStep: (step: Pick<Progress, 'subject' | 'phase'>) => void
}

/** Measures a heat, one process after the other. Undefined if the budget ended it: half a heat says nothing. */
export async function measureHeat(session: Session, heat: Heat): Promise<Round[] | undefined> {
  const { race, supervisor, signal, timeout, end } = session
  const began = performance.now()
  const rounds: Round[] = []
  for (const [index, name] of heat.names.entries()) {
    const passed = performance.now() - began
    const perProcess = index === 0 ? usualTime(race, 1) : passed / index
    if (performance.now() + perProcess * (heat.names.length - index) > end) return undefined
    heat.onStep({ subject: name, phase: 'measuring' })
    const place = heat.functions.placeOf(name)
    const { warmUp, duration } = race
    const job = { type: 'measure', place, warmUp, duration } as const
    try {
      const report = await runFunctionProcess(supervisor, job, race, AbortSignal.any([signal, timeout]))
      if (report.type !== 'measured') throw reportedError(report, name)
      rounds.push(roundOf(report.measurement, heat, name, race))
    } catch (error) {
      if (error === timeout.reason && !signal.aborted) return undefined
      throw error
    }
  }
  return rounds
}

function roundOf(
  { calls, elapsed, cpu, ...measured }: FunctionMeasurement,
  { number, functions }: Heat,
  subject: string,
  { maxForeignCpu }: ResolvedFunctionRace,
): Round {
  return {
    // All processes share one baseline. If functions of a heat rise and fall together, it is the baseline instead.
    ...{ stage: 1, cycle: 1, heat: number, replica: number, subject, case: functions.label },
    ...{ responses: calls, failures: 0, elapsed, cpu, throughput: (calls * 1000) / elapsed },
    ...measured,
    serverUtilization: Math.min(1, (cpu * calls) / 1000 / elapsed),
    generatorUtilization: 0,
    generatorCpu: 0,
    bottleneck: 'server',
    ...(exceedsForeignCpu(measured, maxForeignCpu) ? { discarded: 'foreign-cpu' } : {}),
  }
}
