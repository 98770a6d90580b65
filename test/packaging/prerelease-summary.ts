// What a run with a prerelease comes to, as Markdown.

import { relative } from 'node:path'
import { stripVTControlCharacters } from 'node:util'
import { markdownTable } from 'markdown-table'

/** The parts of a report of vitest's `json` reporter that are read here. */
export interface Report {
  readonly numPassedTests: number
  readonly numFailedTests: number
  readonly testResults: readonly {
    readonly name: string
    readonly status: string
    /** Why a file could not run. */
    readonly message: string
    readonly assertionResults: readonly {
      readonly status: string
      readonly fullName: string
      readonly failureMessages: readonly string[] | null
    }[]
  }[]
}

/** Lists the failed tests with the first line of each failure. */
export function summaryOf(heading: string, report: Report, root: string): string {
  const rows = report.testResults.flatMap(({ name, status, message, assertionResults }) => {
    const file = relative(root, name)
    const failed = assertionResults.filter((one) => one.status === 'failed')
    if (failed.length === 0) return status === 'failed' ? [[file, '(the file)', firstLine(message)]] : []
    return failed.map((one) => [file, one.fullName.trim(), firstLine(one.failureMessages?.[0] ?? '')])
  })
  const counts = `${report.numPassedTests} tests passed, ${report.numFailedTests} failed.`
  const table = rows.length === 0 ? '' : `\n${markdownTable([['file', 'test', 'failure'], ...rows.map(cells)])}\n`
  return `## ${heading}\n\n${counts}\n${table}`
}

/** Shows the end of the output of a command that failed before any test ran. */
export function failureSummary(heading: string, command: string, output: string): string {
  const end = stripVTControlCharacters(output).trimEnd().split('\n').slice(-30).join('\n')
  return `## ${heading}\n\n\`${command}\` failed:\n\n\`\`\`\n${end}\n\`\`\`\n`
}

const firstLine = (text: string): string => stripVTControlCharacters(text).trim().split('\n')[0]!.slice(0, 200)

/** Text that does not end a cell. */
const cells = (row: readonly string[]): string[] => row.map((cell) => cell.replaceAll('|', '\\|'))
