// The plots of a load: the rate that was reached, and latency and CPU by rate.

import { line } from 'd3-shape'
import type { LoadPhase, LoadReport } from '../../load-test/load-report.ts'
import { microseconds, milliseconds, percentage, perSecond } from '../format.ts'
import { MAX_ROWS } from './load-figures.ts'
import { html, type Markup } from './markup.ts'
import {
  type Axis,
  axisOf,
  colorOf,
  dots,
  figure,
  gridAcross,
  labelsAcross,
  legend,
  linePlot,
  percent,
  rowsAbove,
  unit,
} from './plot.ts'

/** A rate below this share of its plan was not reached. */
const REACHED = 0.98

/** Responses per second of each load as a bar, with a mark at the intended rate. */
export function rateBars({ phases, load }: LoadReport): Markup {
  const shown = phases.slice(0, MAX_ROWS)
  const axis = axisOf([0, ...shown.flatMap((phase) => [phase.throughput, meanRate(phase) ?? 0])], {
    kind: 'linear',
    count: 4,
    padding: 0.02,
  })
  const caption =
    load.kind === 'rate'
      ? 'The bar is what the server responded to, the dashed line is what was asked for: the mean of a ramp.'
      : 'Responses of all users together.'
  return figure('Rate', caption, [
    rowsAbove(
      axis,
      perSecond,
      shown.map((phase) => rateRow(phase, axis)),
    ),
  ])
}

function rateRow(phase: LoadPhase, axis: Axis): Markup {
  const intended = meanRate(phase)
  const share = intended ? phase.throughput / intended : 1
  const text = `${perSecond(phase.throughput)} responses/s`
  const plan = intended ? `${percentage(share)} of ${perSecond(intended)}` : undefined
  const label = `${phase.load}: ${text}${plan === undefined ? '' : `, ${plan}`}`
  const from = axis(0)
  const width = percent(Math.max(0.4, axis(phase.throughput) - from))
  const mark = intended === undefined ? undefined : percent(axis(intended))
  return html`<tr>
    <th scope="row">${phase.load}</th>
    <td>
      <svg class="bar ${share < REACHED ? 'unsure' : 'better'}" height="26" role="img" aria-label="${label}">
        ${gridAcross(axis)}
        <rect class="interval" x="${percent(from)}" width="${width}" y="8" height="10" rx="2" />
        ${mark && html`<line class="bound" x1="${mark}" x2="${mark}" y1="3" y2="23" />`}
      </svg>
    </td>
    <td class="figure">${text}${plan && html`<br /><small>${plan}</small>`}</td>
  </tr>`
}

/** Intended requests per second. That of a ramp is its mean. */
function meanRate({ rate }: LoadPhase): number | undefined {
  return rate ? (rate.from + rate.to) / 2 : undefined
}

/** Percentiles of latency at each rate, on a logarithmic axis. */
export function latencyByRate(report: LoadReport): Markup | undefined {
  return byRate(report, {
    title: report.ceiling ? 'Latency by share of the ceiling' : 'Latency by rate',
    caption: 'The vertical axis is logarithmic. Where the curves rise, requests wait for the server.',
    kind: 'log',
    format: milliseconds,
    series: {
      p50: ({ latency }) => latency?.p50,
      p90: ({ latency }) => latency?.p90,
      p99: ({ latency }) => latency?.p99,
      max: ({ latency }) => latency?.max,
    },
  })
}

/** CPU per request at each rate. */
export function cpuByRate(report: LoadReport): Markup | undefined {
  return byRate(report, {
    title: report.ceiling ? 'CPU per request by share of the ceiling' : 'CPU per request by rate',
    caption:
      'CPU of the whole process tree, per right response. A busy server often needs less, because work is batched.',
    kind: 'linear',
    format: microseconds,
    series: { 'CPU per request': ({ server, latency }) => (latency ? server?.cpu : undefined) },
  })
}

interface ByRate {
  readonly title: string
  readonly caption: string
  readonly kind: 'log' | 'linear'
  readonly format: (value: number) => string
  readonly series: Readonly<Record<string, (phase: LoadPhase) => number | undefined>>
}

/** Curves over the rate. Ramps and users have no place on this axis. Without two rates, there is no curve. */
function byRate(report: LoadReport, { title, caption, kind, format, series }: ByRate): Markup | undefined {
  const { at, label } = rateAxis(report)
  const phases = report.phases
    .flatMap((phase) => {
      const x = at(phase)
      return x === undefined ? [] : { phase, x }
    })
    .toSorted((a, b) => a.x - b.x)
  const names = Object.keys(series)
  const curves = names.map((name) => ({
    name,
    points: phases.flatMap(({ phase, x }) => {
      const y = series[name]!(phase)
      return y === undefined ? [] : [[x, y] as const]
    }),
  }))
  const points = curves.flatMap((curve) => curve.points)
  if (new Set(points.map(([x]) => x)).size < 2) return undefined
  const across = axisOf([0, ...points.map(([x]) => x)], { kind: 'linear', count: 5 })
  const up = axisOf(
    points.map(([, y]) => y),
    { kind, count: 4, padding: 0.1 },
  )
  const path = line<readonly [number, number]>()
    .x(([x]) => Number(unit(across(x))))
    .y(([, y]) => Number(unit(100 - up(y))))
  const lines = curves.map(({ name, points: own }) => {
    const color = colorOf(names, name)
    const marks = dots(own.map(([x, y]) => [across(x), 100 - up(y)]))
    return html`<path class="line ${color}" d="${path(own) ?? ''}" /><path class="dots ${color}" d="${marks}" />`
  })
  const texts = curves.map(
    ({ name, points: own }) => `${name}: ${own.map(([x, y]) => `${format(y)} at ${label(x)}`).join(', ')}`,
  )
  return figure(title, caption, [
    names.length > 1 ? legend(names) : html``,
    linePlot(up, format, {
      label: texts.join('. '),
      grid: gridAcross(across),
      lines,
      below: labelsAcross(across, label),
    }),
  ])
}

/** Where a load stands: at its share of the ceiling, or its intended rate. */
function rateAxis({ ceiling }: LoadReport): {
  at: (phase: LoadPhase) => number | undefined
  label: (x: number) => string
} {
  const rateOf = ({ rate }: LoadPhase): number | undefined => (rate && rate.from === rate.to ? rate.from : undefined)
  if (!ceiling || ceiling.rate === 0) return { at: rateOf, label: (x) => `${perSecond(x)}/s` }
  return {
    at: (phase) => {
      const rate = rateOf(phase)
      return rate === undefined ? undefined : (100 * rate) / ceiling.rate
    },
    label: (x) => `${Math.round(x)} %`,
  }
}
