// The figures of seed 001 in the shape of its own table: one row for each version of Node, one column for each system.

import { publishedTimes } from './published.ts'
import type { Comparison } from './report.ts'
import type { LoadFigures } from './user-load.ts'

export interface MeasuredTimes extends LoadFigures {
  /** Major version. */
  readonly node: string
  readonly subject: string
  /** Length of the load. */
  readonly seconds: number
}

export function timesTable(
  nodes: readonly string[],
  subjects: readonly string[],
  measured: readonly MeasuredTimes[],
): Comparison {
  const seconds = measured[0]?.seconds ?? 0
  return {
    title: `Average / p95 in ms, then and now in ${seconds} s (${publishedTimes.source})`,
    head: ['Node', ...subjects.flatMap((subject) => [`${subject} then`, 'now'])],
    rows: nodes.map((node) => [
      node,
      ...subjects.flatMap((subject) => {
        const isOf = isOfSystem(node, subject)
        return [pair(publishedTimes.times.find(isOf)), pair(measured.find(isOf))]
      }),
    ]),
    legend: ['An empty cell was not published, or the system does not run on this Node.'],
  }
}

/** One line for each system with one version of Node. */
export function timesCsv(node: string, subjects: readonly string[], measured: readonly MeasuredTimes[]): string {
  const lines = subjects.map((subject) => {
    const isOf = isOfSystem(node, subject)
    const then = publishedTimes.times.find(isOf)
    const now = measured.find(isOf)
    const rate = now && now.answers / now.seconds
    const figures = [then?.average, now?.average, then?.p95, now?.p95, now?.p99, rate, now?.failures]
    return [subject, ...figures.map((figure) => (figure === undefined ? '' : Number(figure.toFixed(2))))].join(',')
  })
  const head =
    'system,average_then_ms,average_now_ms,p95_then_ms,p95_now_ms,p99_now_ms,requests_per_second_now,failures_now'
  return `${[head, ...lines].join('\n')}\n`
}

const isOfSystem =
  (node: string, subject: string) =>
  (of: { readonly node: string; readonly subject: string }): boolean =>
    of.node === node && of.subject === subject

function pair(times: { readonly average: number; readonly p95: number } | undefined): string {
  return times ? `${times.average.toFixed(2)} / ${times.p95.toFixed(2)}` : ''
}
