import { line } from 'd3-shape'
import type { Round } from '../../statistics/measured-round.ts'
import { megabytes } from '../format.ts'
import type { RaceResult } from '../result.ts'
import { html, type Markup } from './markup.ts'
import { axisOf, colorOf, dots, figure, labelsAcross, legend, linePlot, thinned, unit } from './plot.ts'

/** Resident memory after each round, a line per process. */
export function memoryPlot({ rounds, subjects }: RaceResult, maxPoints: number): Markup | undefined {
  if (rounds.length === 0) return undefined
  const names = subjects.map(({ name }) => name)
  const isTimed = rounds.every(({ at }) => at !== undefined)
  const timed = rounds.map((round, index) => ({ ...round, time: isTimed ? round.at! : index + 1 }))
  const across = axisOf(
    timed.map(({ time }) => time),
    { kind: 'linear', padding: 0.01 },
  )
  const up = axisOf(
    timed.map(({ rss }) => rss),
    { kind: 'linear', count: 4, padding: 0.1 },
  )
  const path = line<(typeof timed)[number]>()
    .x(({ time }) => Number(unit(across(time))))
    .y(({ rss }) => Number(unit(100 - up(rss))))
  const processes = [...Map.groupBy(timed, ({ subject, replica }) => JSON.stringify([subject, replica])).values()]
  const most = Math.max(2, Math.floor(maxPoints / processes.length))
  const lines = processes.map((own) => {
    const { subject } = own[0]!
    const points = [...thinned(own, most)]
    // Dots too: a line of one point has no length.
    const ends = dots(points.map((point) => [across(point.time), 100 - up(point.rss)]))
    const color = colorOf(names, subject)
    return html`<path class="line thin ${color}" d="${path(points) ?? ''}" /><path class="dots ${color}" d="${ends}" />`
  })
  return figure('Memory over time', 'Resident memory of the process tree after each round. A line is a process.', [
    legend(names),
    linePlot(up, (tick) => `${tick / 1e6} MB`, {
      label: labelOf(names, rounds),
      lines,
      below: labelsAcross(across, (tick) => (isTimed ? `${tick / 1000} s` : `round ${tick}`)),
    }),
  ])
}

function labelOf(names: readonly string[], rounds: readonly Round[]): string {
  const parts = names.flatMap((name) => {
    const own = rounds.filter(({ subject }) => subject === name).map(({ rss }) => rss)
    return own.length > 0 ? `${name}: ${megabytes(Math.min(...own))} to ${megabytes(Math.max(...own))}` : []
  })
  return parts.join(', ')
}
