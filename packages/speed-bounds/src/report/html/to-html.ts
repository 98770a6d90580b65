import type { Comparison } from '../../compare/comparison.ts'
import type { RaceResult } from '../result.ts'
import { claimCards, comparisonCards } from './cards.ts'
import { conditions, repeatCommand } from './conditions.ts'
import { distributionPlot } from './distribution-plot.ts'
import { latencyPlot } from './latency-plot.ts'
import { html, Markup } from './markup.ts'
import { memoryPlot } from './memory-plot.ts'
import { profileSection } from './profile-section.ts'
import { ratioPlot } from './ratio-plot.ts'
import { STYLE } from './style.ts'
import { bottleneckBars, failureNotes, summaryTable } from './tables.ts'

/** Dots and points of all plots of a report, and characters of the plots of its cases. They keep it below 300 kB. */
const MAX_POINTS = 5000
const MAX_CASE_PLOTS = 70_000

/**
 * A result as one HTML file without scripts. It loads nothing, so that it can be mailed, attached and archived.
 *
 * @example
 * writeFileSync('report.html', toHtml(await race({ a: './a.ts', b: './b.ts' }, { path: '/' }).measure()))
 */
export function toHtml(document: RaceResult | Comparison): string {
  return ('kind' in document ? comparisonPage(document) : racePage(document)).text
}

function racePage(result: RaceResult): Markup {
  const title = result.subjects.map(({ name }) => name).join(' vs ')
  return page(title, result.finishedAt, [
    claimCards(result),
    ...measurements(result, MAX_POINTS),
    html`<h2>Conditions</h2>
      ${conditions(result)}`,
    html`<h2>Repeat it</h2>
      <pre><code>${repeatCommand(result)}</code></pre>
      <p class="soft">
        Add the request headers, the body and the environment of your race: a result does not contain them.
      </p>`,
  ])
}

function comparisonPage(comparison: Comparison): Markup {
  const { base, head, races, finishedAt } = comparison
  const named = ({ ref, commit }: Comparison['base']): string => `${ref} (${commit.slice(0, 12)})`
  const all = Object.entries(races)
  const sections = all.map(
    ([name, result]) =>
      html`<h2>${name}</h2>
        ${measurements(result, MAX_POINTS / all.length)}`,
  )
  const [first] = all
  return page(`${named(head)} compared with ${named(base)}`, finishedAt, [
    comparisonCards(comparison),
    ...sections,
    html`<h2>Conditions</h2>
      ${first && conditions(first[1])}`,
    html`<h2>Repeat it</h2>
      <pre><code>npx speed-bounds compare ${base.commit} ${head.ref === 'working tree' ? '' : head.commit}</code></pre>`,
  ])
}

/** All plots and tables of a race, with at most this many dots and points. */
function measurements(result: RaceResult, maxPoints: number): Markup[] {
  const { cases, subjects } = result
  const maxDots = Math.max(20, Math.floor(maxPoints / 2 / Math.max(1, cases.length * subjects.length)))
  let room = MAX_CASE_PLOTS * (maxPoints / MAX_POINTS)
  const ofCases = cases.flatMap(({ name }, index) => {
    const plots = [distributionPlot(result, name, maxDots), latencyPlot(result, name)]
    room -= plots.reduce((sum, plot) => sum + (plot?.text.length ?? 0), 0)
    return [
      cases.length > 1 ? html`<h3>${name}</h3>` : undefined,
      summaryTable(result, name),
      ...failureNotes(result, name),
      ...(room > 0 || index === 0
        ? plots
        : [html`<p class="soft">The plots of this case are left out, to keep the file small.</p>`]),
    ]
  })
  const ofRace = [memoryPlot(result, maxPoints / 2), bottleneckBars(result), ...profileSection(result)]
  return [ratioPlot(result), ...ofCases, ...ofRace].filter((part) => part !== undefined)
}

function page(title: string, finishedAt: string, content: readonly Markup[]): Markup {
  const day = finishedAt.slice(0, 16).replace('T', ' ')
  return html`<!doctype html>
    <html lang="en">
      <head>
        <meta charset="utf-8" />
        <meta name="viewport" content="width=device-width, initial-scale=1" />
        <meta http-equiv="Content-Security-Policy" content="default-src 'none'; style-src 'unsafe-inline'" />
        <title>${title}</title>
        <style>
          ${new Markup(STYLE)}
        </style>
      </head>
      <body>
        <main>
          <h1>${title}</h1>
          <p class="soft">Measured by speed-bounds, finished ${day} UTC</p>
          ${content}
        </main>
      </body>
    </html> `
}
