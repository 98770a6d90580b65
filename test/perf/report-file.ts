// Where the suites of one run put their results, and the report that is made of them all.

import { existsSync, mkdirSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { htmlReport, type ReportedRace } from './html-report.ts'
import type { Comparison } from './report.ts'

export const RESULTS: URL = new URL('../../results/', import.meta.url)

interface SuiteResults {
  /** Start of the run. It distinguishes the results of earlier runs. */
  readonly run: number
  readonly races: readonly ReportedRace[]
}

/** Script of package.json that runs suites. */
export type Script = 'test:perf' | 'test:perf:all' | 'test:perf:nodes'

export function commandOf(script: Script): string {
  return `npx -y pnpm@12 ${script}`
}

interface SuiteTables {
  readonly run: number
  readonly tables: readonly Comparison[]
}

/** Adds the tables of a suite without races to the report of its run. */
export function reportTables(suite: string, { run, tables }: SuiteTables, command: string): void {
  writeFileSync(new URL(`${suite}/tables.json`, RESULTS), `${JSON.stringify({ run, tables, command })}\n`)
}

/** Makes a suite's folder, and removes the files of earlier runs. */
export function freshFolder(suite: string): URL {
  const folder = new URL(`${suite}/`, RESULTS)
  rmSync(folder, { recursive: true, force: true })
  mkdirSync(folder, { recursive: true })
  return folder
}

/** Adds a suite to the report of its run. */
export function report(suite: string, { run, races }: SuiteResults, command: string): void {
  writeFileSync(new URL(`${suite}/races.json`, RESULTS), `${JSON.stringify({ run, races, command })}\n`)
  const all = readdirSync(RESULTS)
    .map((name) => new URL(`${name}/races.json`, RESULTS))
    .filter((file) => existsSync(file))
    .map((file) => JSON.parse(readFileSync(file, 'utf8')) as SuiteResults)
    .filter((results) => results.run === run)
    .flatMap((results) => results.races)
  const minutes = (Date.now() - run) / 60_000
  writeFileSync(new URL('report.html', RESULTS), htmlReport(all, { command, minutes }))
}
