// Parts of plots. Positions across are percentages, so that a plot takes any width and its text keeps its size. Shapes
// are paths in a stretched box of 100 by 100 units, whose strokes do not stretch.

import { scaleLinear, scaleLog } from 'd3-scale'
import { html, type Markup } from './markup.ts'

/** Maps values to percentages. */
export interface Axis {
  (value: number): number
  readonly ticks: readonly number[]
}

/** Above this ratio of the largest to the smallest value, an axis is logarithmic. */
const LOG_FROM = 8

export interface AxisOptions {
  /** Number of ticks to aim for. */
  readonly count?: number
  /** Share of the length that stays free at each end. */
  readonly padding?: number
  readonly kind?: 'log' | 'linear' | 'automatic'
}

/** An axis over these values, from 0 to 100 percent. */
export function axisOf(
  values: readonly number[],
  { count = 5, padding = 0.04, kind = 'automatic' }: AxisOptions = {},
): Axis {
  const shown = values.filter((value) => Number.isFinite(value) && (kind === 'linear' || value > 0))
  const finite = shown.length > 0 ? shown : [1]
  const least = Math.min(...finite)
  const most = Math.max(...finite)
  const isLog = kind === 'log' || (kind === 'automatic' && most / least > LOG_FROM)
  // A single value stands in the middle.
  const domain = least < most ? [least, most] : [least * 0.9, least * 1.1 || 1]
  const scale = (isLog ? scaleLog() : scaleLinear())
    .domain(domain)
    .range([100 * padding, 100 * (1 - padding)])
    .clamp(true)
  const axis = (value: number): number => scale(value)
  return Object.assign(axis, { ticks: isLog ? logTicks(scale.ticks(count), count, axis) : scale.ticks(count) })
}

/** Minimum percentage between two ticks, so that their labels do not overlap. */
const MIN_GAP = 8

/** The roundest of the ticks that a logarithmic scale offers. */
function logTicks(ticks: readonly number[], count: number, axis: (tick: number) => number): readonly number[] {
  const digit = (tick: number): number => Number(tick.toExponential(6)[0])
  const isRound = (tick: number, digits: readonly number[]): boolean =>
    digits.includes(digit(tick)) && Math.abs(tick / 10 ** Math.floor(Math.log10(tick) + 1e-9) - digit(tick)) < 1e-6
  const choices = [[1, 2, 5], [1, 3], [1]].map((digits) => ticks.filter((tick) => isRound(tick, digits)))
  const areApart = (some: readonly number[]): boolean =>
    some.every((tick, index) => index === 0 || axis(tick) - axis(some[index - 1]!) >= MIN_GAP)
  const fitting = [ticks, ...choices].find((some) => some.length <= count + 2 && areApart(some)) ?? choices.at(-1)!
  return fitting.length > 1 ? fitting : ticks.slice(0, count + 2)
}

export const percent = (value: number): string => `${Number(value.toFixed(2))}%`
export const unit = (value: number): string => String(Number(value.toFixed(2)))

/** Vertical lines at the ticks. */
export function gridAcross(axis: Axis): Markup {
  return stretched([html`<path class="grid" d="${axis.ticks.map((tick) => `M${unit(axis(tick))} 0v100`).join('')}" />`])
}

/** A figure of an axis without trailing zeros: `0.5x` for `0.500x`. */
function brief(text: string): string {
  return text.replace(/\.\d+/, (fraction) => String(Number(`0${fraction}`)).slice(1))
}

/** Labels below a plot that a phone has room for. */
const NARROW = 4

/** Labels of the ticks below a plot. Those at the ends stay within it. A phone shows every second one of many. */
export function labelsAcross(axis: Axis, format: (tick: number) => string): Markup {
  const { length } = axis.ticks
  const labels = axis.ticks.map((tick, index) => {
    const isExtra = length > NARROW && (length - 1 - index) % 2 === 1
    const at = axis(tick)
    const anchor = at < 6 ? 'start' : at > 94 ? 'end' : 'middle'
    const name = isExtra ? html` class="extra"` : undefined
    return html`<text${name} x="${percent(at)}" y="14" text-anchor="${anchor}">${brief(format(tick))}</text>`
  })
  return html`<svg class="axis" height="20" aria-hidden="true">${labels}</svg>`
}

/** Rows of plots that share an axis, with its labels below them. */
export function rowsAbove(axis: Axis, format: (tick: number) => string, rows: readonly Markup[]): Markup {
  return html`<table class="rows">
    <tbody>
      ${rows}
      <tr class="foot">
        <td></td>
        <td>${labelsAcross(axis, format)}</td>
        <td></td>
      </tr>
    </tbody>
  </table>`
}

/** A plot of lines with an axis upwards, whose labels stand to the left of it. */
export function linePlot(
  axis: Axis,
  format: (tick: number) => string,
  { label, grid, lines, below }: { label: string; grid?: Markup; lines: readonly Markup[]; below: Markup },
): Markup {
  const heights = axis.ticks.map((tick) => ({ tick, at: percent(100 - axis(tick)) }))
  const texts = heights.map(
    ({ tick, at }) => html`<text x="100%" y="${at}" dy="4" text-anchor="end">${brief(format(tick))}</text>`,
  )
  const levels = heights.map(({ at }) => html`<line class="grid" x1="0" x2="100%" y1="${at}" y2="${at}" />`)
  return html`<div class="lines">
    <svg class="labels" height="210" aria-hidden="true">${texts}</svg>
    <div><svg height="210" role="img" aria-label="${label}">${levels}${grid}${stretched(lines)}</svg>${below}</div>
  </div>`
}

/** Shapes in a box of 100 by 100 units that is stretched to the whole plot. */
export function stretched(shapes: readonly Markup[]): Markup {
  return html`<svg viewBox="0 0 100 100" preserveAspectRatio="none" width="100%" height="100%">${shapes}</svg>`
}

/** Points as one path of dots, which stay round when it is stretched. */
export function dots(points: readonly (readonly [x: number, y: number])[]): string {
  return points.map(([x, y]) => `M${unit(x)} ${unit(y)}h0`).join('')
}

/** At most this many values, and at least two, evenly spread over all of them. The first and the last one stay. */
export function thinned<T>(values: readonly T[], most: number): readonly T[] {
  const step = (values.length - 1) / (most - 1)
  return step <= 1 ? values : Array.from({ length: most }, (_, index) => values[Math.round(index * step)]!)
}

/** Class of the color of a subject. There are eight. */
export const colorOf = (subjects: readonly string[], name: string): string => `s${subjects.indexOf(name) % 8}`

/** Names with their colors. By default all subjects are shown. */
export function legend(subjects: readonly string[], shown: readonly string[] = subjects): Markup {
  const items = shown.map((name) => html`<li class="${colorOf(subjects, name)}">${name}</li>`)
  return html`<ul class="legend">
    ${items}
  </ul>`
}

/** A plot with its title, what it shows, and the plot as text for screen readers. */
export function figure(title: string, caption: string, content: readonly Markup[]): Markup {
  return html`<figure>
    <h4>${title}</h4>
    <figcaption>${caption}</figcaption>
    ${content}
  </figure>`
}
