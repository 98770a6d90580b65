// A process that measures one function, or lists those of a file. It ends by itself, or with the supervisor.

import { importBenchmarks, messageOf, namesOf, type RacedFunction, UnusableFile } from './benchmark-file.ts'
import { measureFunction, UnusableFunction } from './measure-function.ts'
import type { FunctionJob, FunctionPlace, FunctionReport } from './process-messages.ts'

process.once('message', (job: FunctionJob) => void run(job).then(end, (error: unknown) => end(failureOf(error))))
process.once('disconnect', () => process.exit())

async function run(job: FunctionJob): Promise<FunctionReport> {
  if (job.type === 'list') {
    const benchmarks = await importBenchmarks(job.url)
    return { type: 'listed', groups: namesOf(benchmarks), claims: benchmarks.claims }
  }
  const fn = await find(job.place)
  if (fn.constructor.name.endsWith('GeneratorFunction'))
    throw new UnusableFunction(
      'it is a generator, which does nothing until it is iterated: iterate it within a function',
    )
  const first = fn()
  const isAsync = isThenable(first)
  await first
  report({ type: 'called' })
  return { type: 'measured', measurement: await measureFunction(fn, { ...job, isAsync }) }
}

async function find(place: FunctionPlace): Promise<RacedFunction> {
  if (place.type === 'source') {
    // A module of its own: strict, and without any variable of this one. It cannot import by a relative path.
    const url = `data:text/javascript,export default ${encodeURIComponent(place.source)}`
    return ((await import(url)) as { default: RacedFunction }).default
  }
  const { groups } = await importBenchmarks(place.url)
  const fn = groups.get(place.group)?.[place.name]
  if (fn) return fn
  throw new UnusableFile(`"${place.name}" is missing in a second process: a file must export the same names each time.`)
}

function isThenable(value: unknown): value is PromiseLike<unknown> {
  return typeof (value as { then?: unknown } | null | undefined)?.then === 'function'
}

function failureOf(error: unknown): FunctionReport {
  if (error instanceof UnusableFile) return { type: 'unusable', message: error.message }
  return { type: 'failed', message: error instanceof UnusableFunction ? error.message : messageOf(error) }
}

function report(message: FunctionReport, then?: () => void): void {
  process.send!(message, undefined, undefined, then)
}

/** Timers, sockets and workers of the function end with the process. */
function end(message: FunctionReport): void {
  report(message, () => process.exit())
}
