import type { Comparison } from '../compare/comparison.ts'
import type { Round } from '../statistics/measured-round.ts'
import type { RaceResult } from './result.ts'

/** Columns, in the units of the result document. */
const COLUMNS = [
  ...['stage', 'cycle', 'heat', 'at', 'subject', 'replica', 'case', 'responses', 'failures', 'elapsed', 'cpu'],
  ...['throughput', 'p50', 'p90', 'p99', 'rss', 'peakRss', 'serverUtilization', 'generatorUtilization'],
  ...['generatorCpu', 'foreignCpu', 'bottleneck', 'discarded'],
] as (keyof Round)[]

/** All rounds as CSV (RFC 4180), with a row of column names. */
export function toCsv(document: RaceResult | Comparison): string {
  const races = 'kind' in document ? Object.values(document.races) : [document]
  const rows = races.flatMap(({ rounds }) => rounds.map((round) => COLUMNS.map((name) => cell(round[name]))))
  return [COLUMNS, ...rows].map((row) => `${row.join(',')}\n`).join('')
}

function cell(value: string | number | undefined): string {
  if (value === undefined) return ''
  if (typeof value === 'number') return String(value)
  // A spreadsheet takes these for formulas, and names are text of others.
  const text = /^[=+\-@\t\r]/.test(value) ? `'${value}` : value
  return /[",\r\n]/.test(text) ? `"${text.replaceAll('"', '""')}"` : text
}
