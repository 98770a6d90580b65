import { area, curveBasis } from 'd3-shape'
import { countRounds } from '../../statistics/counted-rounds.ts'
import { costOf, type Round } from '../../statistics/measured-round.ts'
import { median } from '../../statistics/samples.ts'
import { html, type Markup } from './markup.ts'
import { type Axis, axisOf, colorOf, dots, figure, gridAcross, percent, rowsAbove, stretched, thinned } from './plot.ts'

/** Points of the outline of a distribution. */
const STEPS = 36

/** What a distribution shows, in words. */
export interface DistributionTexts {
  readonly title: string
  readonly caption: string
  /** What a dot is, in the plural. */
  readonly dots: string
  readonly format: (cpu: number) => string
}

/** CPU of all counted rounds: their density, and a dot per round. */
export function distributionPlot(
  all: readonly Round[],
  subjects: readonly string[],
  maxDots: number,
  { title, caption, dots: noun, format }: DistributionTexts,
): Markup | undefined {
  const rounds = subjects.flatMap((name) => countRounds(all.filter(({ subject }) => subject === name)).counted)
  if (rounds.length === 0) return undefined
  const axis = axisOf(
    rounds.map((round) => costOf(round, 'cpu')),
    { count: 5, padding: 0.1 },
  )
  const rows = subjects.flatMap((name) => {
    const own = rounds.filter(({ subject }) => subject === name)
    if (own.length === 0) return []
    const middle = format(median(own.map(({ cpu }) => cpu)))
    const label = `${name}: median ${middle} over ${own.length} ${noun}`
    return html`<tr>
      <th scope="row">${name}</th>
      <td>
        <svg class="strip ${colorOf(subjects, name)}" height="64" role="img" aria-label="${label}">
          ${gridAcross(axis)}${shapesOf(thinned(own, maxDots), axis)}
        </svg>
      </td>
      <td class="figure">${middle}</td>
    </tr>`
  })
  return figure(title, `${caption} The line is the median. Wide rows that overlap are not a difference.`, [
    rowsAbove(axis, format, rows),
  ])
}

function shapesOf(rounds: readonly { cpu: number; replica: number }[], axis: Axis): Markup[] {
  const positions = rounds.map(({ cpu }) => axis(cpu))
  const processes = [...new Set(rounds.map(({ replica }) => replica))].toSorted((a, b) => a - b)
  const lane = (replica: number): number =>
    processes.length < 2 ? 50 : 14 + (72 * processes.indexOf(replica)) / (processes.length - 1)
  const outline = area<readonly [x: number, density: number]>()
    .x(([x]) => Number(x.toFixed(1)))
    .y0(([, density]) => Number((50 - 46 * density).toFixed(1)))
    .y1(([, density]) => Number((50 + 46 * density).toFixed(1)))
    .curve(curveBasis)(densityOf(positions))
  const at = percent(median(positions))
  return [
    stretched([
      html`<path class="density" d="${outline ?? ''}" />`,
      html`<path class="dots" d="${dots(rounds.map(({ replica }, index) => [positions[index]!, lane(replica)]))}" />`,
    ]),
    html`<line class="median" x1="${at}" x2="${at}" y1="6%" y2="94%" />`,
  ]
}

/** The density of positions from 0 to 100, as a share of its maximum. The kernel is Gaussian, with Silverman's width. */
function densityOf(positions: readonly number[]): (readonly [x: number, density: number])[] {
  const mean = positions.reduce((sum, x) => sum + x, 0) / positions.length
  const deviation = Math.sqrt(positions.reduce((sum, x) => sum + (x - mean) ** 2, 0) / positions.length)
  const width = Math.max(0.8, 0.9 * deviation * positions.length ** -0.2)
  const least = Math.max(0, Math.min(...positions) - 2.5 * width)
  const most = Math.min(100, Math.max(...positions) + 2.5 * width)
  const densities = Array.from({ length: STEPS + 1 }, (_, index) => {
    const x = least + ((most - least) * index) / STEPS
    return [x, positions.reduce((sum, at) => sum + Math.exp(-0.5 * ((x - at) / width) ** 2), 0)] as const
  })
  const highest = Math.max(...densities.map(([, density]) => density))
  return densities.map(([x, density]) => [x, density / highest])
}
