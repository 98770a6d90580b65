// Writes the results of Next's own tests as a Markdown table: `node test/next-suite/results-table.ts <folder>`.

import { appendFileSync, globSync } from 'node:fs'
import { join } from 'node:path'
import { markdownTable } from 'markdown-table'
import { readJson } from '../packaging/tarball.ts'
import { type Report, summaryOf } from '../packaging/prerelease-summary.ts'

/** Results of one test file, in the format of jest. */
interface FileResults extends Report {
  readonly numPendingTests: number
}

/** Table of all files, and the failures. Next's runner writes `<test file>.results.json`. */
export function resultsTable(folder: string): string {
  const files = globSync('**/*.results.json', { cwd: folder, exclude: ['**/node_modules'] }).toSorted()
  if (files.length === 0) throw new Error(`No results in ${folder}: expected files *.results.json.`)
  const results = files.map((file) => {
    const report = readJson(join(folder, file)) as unknown as FileResults
    return { file: file.replace(/\.results\.json$/, ''), report }
  })
  const rows = results.map(({ file, report: { numPassedTests, numFailedTests, numPendingTests } }) =>
    [file, numPassedTests, numFailedTests, numPendingTests].map(String),
  )
  const all: Report = {
    numPassedTests: sum(results.map(({ report }) => report.numPassedTests)),
    numFailedTests: sum(results.map(({ report }) => report.numFailedTests)),
    testResults: results.flatMap(({ report }) => report.testResults),
  }
  const table = markdownTable([['file', 'passed', 'failed', 'skipped'], ...rows])
  return `${summaryOf("Next's own tests with next-on-fastify", all, folder)}\n${table}\n`
}

const sum = (numbers: readonly number[]): number => numbers.reduce((total, number) => total + number, 0)

if (import.meta.main) {
  const text = resultsTable(process.argv[2] ?? '.')
  console.log(text)
  const summary = process.env['GITHUB_STEP_SUMMARY']
  if (summary) appendFileSync(summary, text)
}
