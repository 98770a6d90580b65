// Measures one function in its own process. tinybench counts and times samples; each sample is many calls, because a clock
// is slower than a short function.

import { Bench, type Statistics } from 'tinybench'
import { coresOf, machineTimes } from '../platform/machine-cpu.ts'
import type { RacedFunction } from './benchmark-file.ts'
import type { FunctionMeasurement } from './process-messages.ts'

/** Milliseconds of a sample of short calls. tinybench takes about a microsecond for each sample. */
const SAMPLE = 0.2

/** Milliseconds in which V8 optimizes the loop around an empty function. */
const EMPTY = 25

/** Measurements of the empty function before another one is rejected. Other programs can take the core for all of one. */
const MAX_TRIES = 8

/** A function below this many times the cost of an empty one has nothing to measure. */
const MIN_COST = 2

/** Result of the last call. It is written and never read, so that V8 cannot remove the calls. */
const last: { result: unknown } = { result: undefined }

/** A function without anything to measure. The message says why. */
export class UnusableFunction extends Error {}

export interface MeasurementPlan {
  readonly warmUp: number
  readonly duration: number
  readonly isAsync: boolean
}

export async function measureFunction(
  fn: RacedFunction,
  { warmUp, duration, isAsync }: MeasurementPlan,
): Promise<FunctionMeasurement> {
  const call = isAsync ? awaitTimes : callTimes
  if (!isAsync) preventInlining()
  let empty = isAsync ? 0 : await warm(call, nothing, EMPTY)
  let perCall = await warm(call, fn, warmUp)
  for (let tries = 1; perCall < MIN_COST * empty && tries < MAX_TRIES; tries++) {
    empty = Math.min(empty, await warm(call, nothing, EMPTY))
    perCall = Math.min(perCall, await warm(call, fn, EMPTY))
  }
  if (perCall < MIN_COST * empty) {
    throw new UnusableFunction(
      'it takes hardly longer than an empty function: return the result, so that V8 keeps the work, or repeat the work within the function',
    )
  }
  return measure(fn, call, { duration, isAsync, count: Math.max(1, Math.ceil(SAMPLE / perCall)) })
}

const nothing: RacedFunction = () => undefined

type Call = (fn: RacedFunction, count: number) => void | Promise<void>

function callTimes(fn: RacedFunction, count: number): void {
  for (let index = 0; index < count; index++) last.result = fn()
}

async function awaitTimes(fn: RacedFunction, count: number): Promise<void> {
  for (let index = 0; index < count; index++) last.result = await fn()
}

/**
 * A call site that has seen several functions is never inlined. Otherwise V8 could move work without arguments out of the
 * loop, and would measure nothing.
 */
function preventInlining(): void {
  const empty: RacedFunction[] = [() => 1, () => 'a', () => undefined]
  for (const fn of empty) callTimes(fn, 10)
}

/** Calls a function for some milliseconds, and returns the least milliseconds of a call. */
async function warm(call: Call, fn: RacedFunction, time: number): Promise<number> {
  const end = performance.now() + time
  let least = Number.POSITIVE_INFINITY
  for (let count = 1; ;) {
    const before = performance.now()
    await call(fn, count)
    const after = performance.now()
    const elapsed = after - before
    least = Math.min(least, elapsed / count)
    if (after >= end) return least
    // Ten samples are long enough for the clock.
    if (elapsed < 10 * SAMPLE) count *= 2
  }
}

async function measure(
  fn: RacedFunction,
  call: Call,
  { duration, isAsync, count }: { duration: number; isAsync: boolean; count: number },
): Promise<FunctionMeasurement> {
  const bench = new Bench({ time: duration, iterations: 1, warmup: false, throws: true, retainSamples: true })
  const before = { cpu: process.cpuUsage(), machine: machineTimes(), at: 0 }
  let cpu = 0
  let foreignCpu = 0
  let stolenCpu = 0
  bench.add('function', () => call(fn, count), {
    async: isAsync,
    beforeAll() {
      before.machine = machineTimes()
      before.at = performance.now()
      before.cpu = process.cpuUsage()
    },
    afterAll() {
      const { user, system } = process.cpuUsage(before.cpu)
      cpu = user + system
      const { busy, stolen } = machineTimes()
      const time = performance.now() - before.at
      foreignCpu = coresOf(busy - before.machine.busy - cpu / 1000, time)
      stolenCpu = coresOf(stolen - before.machine.stolen, time)
    },
  })
  const [task] = isAsync ? await bench.run() : bench.runSync()
  const { latency, totalTime } = task!.result as { latency: Statistics; totalTime: number }
  const calls = task!.runs * count
  return {
    ...{ calls, elapsed: totalTime, cpu: cpu / calls, foreignCpu, stolenCpu },
    ...{ p50: latency.p50 / count, p90: quantile(latency.samples!, 0.9) / count, p99: latency.p99 / count },
    rss: process.memoryUsage.rss(),
    peakRss: process.resourceUsage().maxRSS * 1024,
  }
}

/** Of sorted samples. tinybench has no 90th percentile. */
function quantile(sorted: readonly number[], share: number): number {
  return sorted[Math.floor(share * (sorted.length - 1))]!
}
