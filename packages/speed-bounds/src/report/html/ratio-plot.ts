import type { Estimate } from '../../statistics/verdict.ts'
import { whyUnused } from '../claim-sentences.ts'
import { ratio, ratioWithInterval } from '../format.ts'
import type { Judged } from './judged.ts'
import { html, type Markup } from './markup.ts'
import { type Axis, axisOf, figure, gridAcross, percent, rowsAbove } from './plot.ts'

/** An interval beyond this multiple of the ratios is cut, so that it does not squeeze the others. */
const MAX_STRETCH = 3
/** Rows of the plot. The tables have the figures of all others. */
const MAX_ROWS = 60

/** An interval as a bar around its ratio, with lines at 1 and at the bound of a claim. */
export function intervalBar(
  { ratio: middle, low, high }: Pick<Estimate, 'ratio' | 'low' | 'high'>,
  axis: Axis,
  { label, bound, tone = '' }: { label: string; bound?: number; tone?: string },
): Markup {
  const [from, at, to] = [axis(low), axis(middle), axis(high)]
  const line = (value: number, name: string): Markup =>
    html`<line class="${name}" x1="${percent(axis(value))}" x2="${percent(axis(value))}" y1="0" y2="100%" />`
  return html`<svg class="bar ${tone}" height="26" role="img" aria-label="${label}">
    ${gridAcross(axis)}${line(1, 'one')}
    <rect class="interval" x="${percent(from)}" width="${percent(Math.max(0.4, to - from))}" y="8" height="10" rx="5" />
    <circle class="middle" cx="${percent(at)}" cy="13" r="4.5" />
    ${bound === undefined ? undefined : line(bound, 'bound')}
  </svg>`
}

/** The axis that all these intervals share. 1 is always on it. */
export function ratioAxis(
  estimates: readonly Pick<Estimate, 'ratio' | 'low' | 'high'>[],
  bounds: readonly number[] = [],
): Axis {
  const middles = [...estimates.map((estimate) => estimate.ratio), ...bounds, 1]
  const least = Math.min(...middles) / MAX_STRETCH
  const most = Math.max(...middles) * MAX_STRETCH
  const ends = estimates.flatMap(({ low, high }) => [Math.max(low, least), Math.min(high, most)])
  return axisOf([...middles, ...ends], { kind: 'log', count: 4 })
}

/** All ratios of the first subject to the others, by case and metric. */
export function ratioPlot({ ratios: all, formats }: Omit<Judged, 'claims'>): Markup | undefined {
  const ratios = all.slice(0, MAX_ROWS)
  const [first] = ratios
  if (!first) return undefined
  const axis = ratioAxis(ratios)
  const groups = Map.groupBy(ratios, ({ over, case: name }) =>
    name === undefined ? `${first.contender} over ${over}` : `${first.contender} over ${over}, ${name}`,
  )
  const rows = [...groups].map(
    ([title, group]) =>
      html`<tr class="group">
          <th colspan="3" scope="rowgroup">${title}</th>
        </tr>
        ${group.map((estimate) => rowOf(estimate, axis, formats))}`,
  )
  const confidence = `${(first.confidence * 100).toFixed(1)} %`
  return figure(
    'Ratios',
    `Right of 1x, ${first.contender} is better. Bars are ${confidence} intervals of one look at the data; verdicts use wider ones. Figures with a note prove little.${leftOut(all.length - ratios.length)}`,
    [rowsAbove(axis, ratio, rows)],
  )
}

function rowOf(estimate: Judged['ratios'][number], axis: Axis, formats: Judged['formats']): Markup {
  const { metric, low, high } = estimate
  const text = ratioWithInterval(estimate)
  const tone = low > 1 ? 'better' : high < 1 ? 'worse' : 'open'
  const { title } = formats[metric]
  const reason = whyUnused(estimate)
  const note = reason === undefined ? undefined : html`<br /><small>${reason}</small>`
  return html`<tr>
    <th scope="row">${title}${note}</th>
    <td>${intervalBar(estimate, axis, { label: `${title}: ${text}`, tone: reason === undefined ? tone : 'open' })}</td>
    <td class="figure">${text}</td>
  </tr>`
}

function leftOut(count: number): string {
  return count === 0 ? '' : ` ${count} more ratios are left out, to keep the file small.`
}
