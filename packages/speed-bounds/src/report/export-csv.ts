import type { LoadPhase, LoadReport } from '../load-test/load-report.ts'
import type { Round } from '../statistics/measured-round.ts'
import { byKind, type ResultDocument } from './result-document.ts'

type Cell = string | number | null | undefined

/** Columns of rounds, in the units of the result document. */
const COLUMNS = [
  ...['stage', 'cycle', 'heat', 'at', 'subject', 'replica', 'case', 'responses', 'failures', 'elapsed', 'cpu'],
  ...['throughput', 'p50', 'p90', 'p99', 'rss', 'peakRss', 'serverUtilization', 'generatorUtilization'],
  ...['generatorCpu', 'foreignCpu', 'stolenCpu', 'bottleneck', 'discarded'],
] as (keyof Round)[]

/** Columns of the loads of a report, in its units. */
const LOAD_COLUMNS: Readonly<Record<string, (phase: LoadPhase, report: LoadReport) => Cell>> = {
  load: ({ load }) => load,
  from: ({ rate }) => rate?.from,
  to: ({ rate }) => rate?.to,
  ceiling: (_, { ceiling }) => ceiling?.rate,
  duration: ({ duration }) => duration,
  responses: ({ responses }) => responses,
  throughput: ({ throughput }) => throughput,
  errors: ({ failures }) => failures.errors,
  timeouts: ({ failures }) => failures.timeouts,
  unexpectedStatus: ({ failures }) => failures.unexpectedStatus,
  mean: ({ latency }) => latency?.mean,
  p50: ({ latency }) => latency?.p50,
  p90: ({ latency }) => latency?.p90,
  p95: ({ latency }) => latency?.p95,
  p99: ({ latency }) => latency?.p99,
  max: ({ latency }) => latency?.max,
  cpu: ({ server }) => server?.cpu,
  serverUtilization: ({ server }) => server?.utilization,
  rss: ({ server }) => server?.rss,
  peakRss: ({ server }) => server?.peakRss,
  foreignCpu: ({ server }) => server?.foreignCpu,
  generatorUtilization: ({ generator }) => generator.utilization,
  lateness: ({ generator }) => generator.lateness,
  connections: ({ generator }) => generator.connections,
  limitedBy: ({ limitedBy }) => limitedBy,
}

/**
 * CSV (RFC 4180) with a row of column names: all rounds of races, the processes of races of functions, or the rates or stages
 * of a load.
 */
export function toCsv(document: ResultDocument): string {
  return byKind(document, {
    race: ({ rounds }) => roundsToCsv(rounds),
    comparison: ({ races }) => roundsToCsv(Object.values(races).flatMap(({ rounds }) => rounds)),
    load: loadToCsv,
    functions: (results) => roundsToCsv(results.flatMap(({ rounds }) => rounds)),
  })
}

function roundsToCsv(rounds: readonly Round[]): string {
  return csvOf(
    COLUMNS,
    rounds.map((round) => COLUMNS.map((name) => round[name])),
  )
}

/** Stages of users have a last row for all of them. */
function loadToCsv(report: LoadReport): string {
  const phases = [...report.phases, ...(report.total ? [report.total] : [])]
  return csvOf(
    Object.keys(LOAD_COLUMNS),
    phases.map((phase) => Object.values(LOAD_COLUMNS).map((value) => value(phase, report))),
  )
}

function csvOf(columns: readonly string[], rows: readonly (readonly Cell[])[]): string {
  return [columns, ...rows.map((row) => row.map(cell))].map((row) => `${row.join(',')}\n`).join('')
}

function cell(value: Cell): string {
  if (value === undefined || value === null) return ''
  if (typeof value === 'number') return String(value)
  // A spreadsheet takes these for formulas, and names are text of others.
  const text = /^[=+\-@\t\r]/.test(value) ? `'${value}` : value
  return /[",\r\n]/.test(text) ? `"${text.replaceAll('"', '""')}"` : text
}
