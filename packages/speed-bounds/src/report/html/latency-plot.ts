import { line } from 'd3-shape'
import { milliseconds } from '../format.ts'
import type { RaceResult } from '../result.ts'
import { dataTable, headCell } from './data-table.ts'
import { html, type Markup } from './markup.ts'
import { type Axis, axisOf, colorOf, figure, gridAcross, labelsAcross, legend, linePlot, unit } from './plot.ts'

/** Labels of the axis across. */
const MARKS = [50, 90, 99, 99.9, 99.99, 99.999]

/** Latency by percentile. Each further nine takes as much room as the one before. */
export function latencyPlot(result: RaceResult, testCase: string): Markup | undefined {
  const summaries = result.summaries.flatMap(({ subject, case: name, latency }) =>
    name === testCase && latency ? { subject, latency } : [],
  )
  if (summaries.length === 0) return undefined
  const subjects = result.subjects.map(({ name }) => name)
  // The maximum has no place on this axis.
  const curves = summaries.map(({ subject, latency }) => ({
    subject,
    points: latency.percentiles.filter(([percentile]) => percentile < 100),
  }))
  const last = Math.max(...curves.flatMap(({ points }) => points.map(([percentile]) => percentile)), 90)
  const across = (percentile: number): number => (100 * Math.log(1 - percentile / 100)) / Math.log(1 - last / 100)
  const up = axisOf(
    curves.flatMap(({ points }) => points.map(([, value]) => value)),
    { kind: 'log', count: 4, padding: 0.05 },
  )
  const path = line<readonly [number, number]>()
    .x(([percentile]) => Number(unit(across(percentile))))
    .y(([, value]) => Number(unit(100 - up(value))))
  const lines = curves.map(
    ({ subject, points }) => html`<path class="line ${colorOf(subjects, subject)}" d="${path(points) ?? ''}" />`,
  )
  const marks: Axis = Object.assign(across, { ticks: MARKS.filter((mark) => mark <= last) })
  return figure('Latency by percentile', 'Both axes are logarithmic. Lower is better.', [
    legend(curves.map(({ subject }) => subject)),
    linePlot(up, milliseconds, {
      label: labelOf(summaries),
      grid: gridAcross(marks),
      lines,
      below: labelsAcross(marks, (mark) => `${mark} %`),
    }),
    table(summaries),
  ])
}

interface LatencySummary {
  readonly subject: string
  readonly latency: NonNullable<RaceResult['summaries'][number]['latency']>
}

function labelOf(summaries: readonly LatencySummary[]): string {
  return summaries.map(({ subject, latency }) => `${subject}: median ${valueAt(latency, 50)}`).join(', ')
}

function valueAt({ percentiles }: LatencySummary['latency'], percentile: number): string {
  const found = percentiles.find(([known]) => known === percentile)
  return found ? milliseconds(found[1]) : '–'
}

function table(summaries: readonly LatencySummary[]): Markup {
  const shown = [50, 90, 99, 99.9, 99.99, 100]
  const head = shown.map((percentile) => (percentile === 100 ? 'max' : `${percentile} %`))
  const rows = summaries.map(
    ({ subject, latency }) =>
      html`<tr>
        <th scope="row">${subject}</th>
        ${shown.map((percentile) => html`<td>${valueAt(latency, percentile)}</td>`)}
      </tr>`,
  )
  return dataTable(['subject', ...head].map(headCell), rows)
}
