import { line } from 'd3-shape'
import { milliseconds } from '../format.ts'
import type { Latency } from '../latency-histograms.ts'
import { dataTable, headCell } from './data-table.ts'
import { html, type Markup } from './markup.ts'
import { type Axis, axisOf, colorOf, figure, gridAcross, labelsAcross, legend, linePlot, unit } from './plot.ts'

/** Labels of the axis across. */
const MARKS = [50, 90, 99, 99.9, 99.99, 99.999]

/** Latency of a subject, or of a load. */
export interface NamedLatency {
  readonly name: string
  readonly latency: Pick<Latency, 'percentiles'>
}

/** Latency by percentile. Each further nine takes as much room as the one before. */
export function latencyPlot(
  latencies: readonly NamedLatency[],
  names: readonly string[],
  { kind, note = '' }: { kind: 'subject' | 'load'; note?: string },
): Markup | undefined {
  if (latencies.length === 0) return undefined
  // The maximum has no place on this axis.
  const curves = latencies.map(({ name, latency }) => ({
    name,
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
    ({ name, points }) => html`<path class="line ${colorOf(names, name)}" d="${path(points) ?? ''}" />`,
  )
  const marks: Axis = Object.assign(across, { ticks: MARKS.filter((mark) => mark <= last) })
  return figure('Latency by percentile', `Both axes are logarithmic. Lower is better.${note}`, [
    legend(
      names,
      curves.map(({ name }) => name),
    ),
    linePlot(up, milliseconds, {
      label: labelOf(latencies),
      grid: gridAcross(marks),
      lines,
      below: labelsAcross(marks, (mark) => `${mark} %`),
    }),
    table(latencies, kind),
  ])
}

function labelOf(latencies: readonly NamedLatency[]): string {
  return latencies.map(({ name, latency }) => `${name}: median ${valueAt(latency, 50)}`).join(', ')
}

function valueAt({ percentiles }: NamedLatency['latency'], percentile: number): string {
  const found = percentiles.find(([known]) => known === percentile)
  return found ? milliseconds(found[1]) : '–'
}

function table(latencies: readonly NamedLatency[], kind: string): Markup {
  const shown = [50, 90, 99, 99.9, 99.99, 100]
  const head = shown.map((percentile) => (percentile === 100 ? 'max' : `${percentile} %`))
  const rows = latencies.map(
    ({ name, latency }) =>
      html`<tr>
        <th scope="row">${name}</th>
        ${shown.map((percentile) => html`<td>${valueAt(latency, percentile)}</td>`)}
      </tr>`,
  )
  return dataTable([kind, ...head].map(headCell), rows)
}
