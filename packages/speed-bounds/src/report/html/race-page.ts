import { type Comparison, sideText } from '../../compare/comparison.ts'
import { microseconds } from '../format.ts'
import { METRIC_FORMATS } from '../metric-formats.ts'
import type { RaceResult } from '../result.ts'
import { cardSection, claimCards, comparisonCards } from './cards.ts'
import { conditions } from './conditions.ts'
import { type DistributionTexts, distributionPlot } from './distribution-plot.ts'
import type { Judged } from './judged.ts'
import { latencyPlot } from './latency-plot.ts'
import { html, type Markup } from './markup.ts'
import { memoryPlot } from './memory-plot.ts'
import { page, repeatSection } from './page.ts'
import { profileSection } from './profile-section.ts'
import { ratioPlot } from './ratio-plot.ts'
import { repeatCommand } from './repeat-command.ts'
import { bottleneckBars, failureNotes, summaryTable } from './tables.ts'

/** Dots and points of all plots of a report, and characters of the plots of its cases. They keep it below 300 kB. */
const MAX_POINTS = 5000
const MAX_CASE_PLOTS = 70_000

const DISTRIBUTION: DistributionTexts = {
  title: 'CPU per request, by round',
  caption: 'A dot is a round, a row of dots is a process.',
  dots: 'rounds',
  format: microseconds,
}

export function racePage(result: RaceResult): Markup {
  const title = result.subjects.map(({ name }) => name).join(' vs ')
  return page(title, result.finishedAt, [
    cardSection('Verdicts', claimCards(judgedOf(result))),
    ...measurements(result, MAX_POINTS),
    html`<h2>Conditions</h2>
      ${conditions(result)}`,
    repeatSection(
      repeatCommand(result),
      'Add the request headers, the body, the environment, the budget, the stages and the warm-up of your race, if you have set them: a result does not contain them.',
    ),
  ])
}

export function comparisonPage(comparison: Comparison): Markup {
  const { base, head, races, finishedAt } = comparison
  const all = Object.entries(races)
  const sections = all.map(
    ([name, result]) =>
      html`<h2>${name}</h2>
        ${measurements(headOverBase(result), MAX_POINTS / all.length)}`,
  )
  const [first] = all
  return page(`${sideText(head)} compared with ${sideText(base)}`, finishedAt, [
    comparisonCards(comparison),
    ...sections,
    html`<h2>Conditions</h2>
      ${first && conditions(first[1])}`,
    repeatSection(`npx speed-bounds compare ${base.commit} ${head.ref === 'working tree' ? '' : head.commit}`.trim()),
  ])
}

/** The race of a comparison has the base first. Its cards say how many times as good the head is, so its ratios do too. */
function headOverBase(result: RaceResult): RaceResult {
  const inverse = (value: number): number => Math.min(Number.MAX_VALUE, 1 / value)
  const ratios = result.ratios.map(({ contender, over, ratio, low, high, ...rest }) => ({
    ...rest,
    ...{ contender: over, over: contender },
    ...{ ratio: inverse(ratio), low: inverse(high), high: inverse(low) },
  }))
  return { ...result, ratios }
}

/** Claims and ratios. The name of a single case tells nothing. */
function judgedOf({ claims, ratios, cases }: RaceResult): Judged {
  const isSingle = cases.length === 1
  const named = <T extends { readonly case: string }>(one: T): Omit<T, 'case'> & { case?: string | undefined } =>
    isSingle ? { ...one, case: undefined } : one
  return { claims: claims.map(named), ratios: ratios.map(named), formats: METRIC_FORMATS }
}

/** All plots and tables of a race, with at most this many dots and points. */
function measurements(result: RaceResult, maxPoints: number): Markup[] {
  const { cases, subjects } = result
  const maxDots = Math.max(20, Math.floor(maxPoints / 2 / Math.max(1, cases.length * subjects.length)))
  let room = MAX_CASE_PLOTS * (maxPoints / MAX_POINTS)
  const ofCases = cases.flatMap(({ name }, index) => {
    const plots = plotsOfCase(result, name, maxDots)
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
  return [ratioPlot(judgedOf(result)), ...ofCases, ...ofRace].filter((part) => part !== undefined)
}

function plotsOfCase(
  { rounds, summaries, subjects }: RaceResult,
  testCase: string,
  maxDots: number,
): (Markup | undefined)[] {
  const names = subjects.map(({ name }) => name)
  const own = rounds.filter((round) => round.case === testCase)
  const latencies = summaries.flatMap(({ subject, case: name, latency }) =>
    name === testCase && latency ? { name: subject, latency } : [],
  )
  return [distributionPlot(own, names, maxDots, DISTRIBUTION), latencyPlot(latencies, names, { kind: 'subject' })]
}
