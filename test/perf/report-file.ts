// Where the suites of one run put their results, and the report that is made of them all.

import { existsSync, mkdirSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { htmlReport, type ReportedRace } from './html-report.ts'

const RESULTS = new URL('../../results/', import.meta.url)

interface SuiteResults {
  /** Start of the run. It distinguishes the results of earlier runs. */
  readonly run: number
  readonly races: readonly ReportedRace[]
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
  writeFileSync(new URL(`${suite}/races.json`, RESULTS), `${JSON.stringify({ run, races })}\n`)
  const all = readdirSync(RESULTS)
    .map((name) => new URL(`${name}/races.json`, RESULTS))
    .filter((file) => existsSync(file))
    .map((file) => JSON.parse(readFileSync(file, 'utf8')) as SuiteResults)
    .filter((results) => results.run === run)
    .flatMap((results) => results.races)
  const minutes = (Date.now() - run) / 60_000
  writeFileSync(new URL('report.html', RESULTS), htmlReport(all, { command, minutes }))
}
