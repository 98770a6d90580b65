// The functions of a race, and where a process finds them.

import { basename } from 'node:path'
import { fileURLToPath } from 'node:url'
import { errorCodes } from '../errors.ts'
import { assertOption } from '../options/check.ts'
import type { ConfigClaim } from '../options/config-types.ts'
import type { RacedFunction } from './benchmark-file.ts'
import { sourceOf } from './function-source.ts'
import type { FunctionGroup, FunctionJob, FunctionPlace, FunctionReport } from './process-messages.ts'

/** The functions of one race. */
export interface RacedFunctions {
  readonly names: readonly string[]
  /** Name of the race for people. */
  readonly label: string
  /** Group of the file. Missing if it has none. */
  readonly group?: string
  /** Path of the file that has them. Missing for inline functions. */
  readonly file?: string
  readonly placeOf: (name: string) => FunctionPlace
}

/** Runs a job in a fresh process. */
export type RunJob = (job: FunctionJob) => Promise<FunctionReport>

/** Functions that were given inline. Each must be able to run without its surroundings. */
export function inlineFunctions(functions: Readonly<Record<string, RacedFunction>>): RacedFunctions {
  const names = Object.keys(functions)
  const other = names.find((name) => typeof functions[name] !== 'function')
  assertOption(other === undefined, `functions.${other}`, 'a function', other && functions[other])
  assertOption(names.length >= 2, 'functions', 'at least 2 functions', names.length)
  const index = names.find((name) => /^\d+$/.test(name))
  assertOption(index === undefined, 'functions', 'names that are not numbers', index)
  const sources = new Map(names.map((name) => [name, sourceOf(name, functions[name]!)]))
  return { names, label: 'functions', placeOf: (name) => ({ type: 'source', name, source: sources.get(name)! }) }
}

/** The functions of a file by group, and its claims, as a process of its own has imported them. */
export async function listFunctions(
  url: string,
  run: RunJob,
): Promise<{ groups: readonly FunctionGroup[]; claims: readonly ConfigClaim[] }> {
  const report = await run({ type: 'list', url })
  if (report.type === 'listed') return report
  throw reportedError(report, basename(fileURLToPath(url)))
}

/** The functions of one group. */
export function functionsOfGroup(url: string, { group, names }: FunctionGroup): RacedFunctions {
  const file = fileURLToPath(url)
  const name = basename(file)
  return {
    names,
    label: group === undefined ? name : `${name}, ${group}`,
    ...(group !== undefined && { group }),
    file,
    placeOf: (own) => ({ type: 'file', url, group, name: own }),
  }
}

/** The group with this name, or the only one. */
export function groupOf(groups: readonly FunctionGroup[], name: string | undefined): FunctionGroup {
  const found = name === undefined && groups.length === 1 ? groups[0] : groups.find(({ group }) => group === name)
  const known = groups.map(({ group }) => group).join(', ')
  assertOption(found !== undefined, 'group', known ? `one of ${known}` : 'no group, because the file has none', name)
  return found
}

/** The error of a report that has no measurement. */
export function reportedError(report: FunctionReport, name: string): Error {
  if (report.type === 'unusable') return new errorCodes.SPEED_BOUNDS_NO_BENCHMARKS(report.message)
  const problem = report.type === 'failed' ? report.message : `unexpected report ${report.type}`
  return new errorCodes.SPEED_BOUNDS_FUNCTION_FAILED(`Function "${name}" failed: ${problem}.`)
}
