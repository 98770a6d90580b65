import type { FunctionRaceResult } from '../../functions/function-result.ts'
import { countRounds } from '../../statistics/counted-rounds.ts'
import { median } from '../../statistics/samples.ts'
import { bound, perSecond, ratioWithInterval, timeOfCall } from '../format.ts'
import { CALL_FORMATS } from '../metric-formats.ts'
import { cardSection, claimCards } from './cards.ts'
import { conditionList } from './conditions.ts'
import { dataTable, headCell } from './data-table.ts'
import { type DistributionTexts, distributionPlot } from './distribution-plot.ts'
import type { Judged } from './judged.ts'
import { html, type Markup } from './markup.ts'
import { page, repeatSection } from './page.ts'
import { colorOf, figure } from './plot.ts'
import { ratioPlot } from './ratio-plot.ts'
import { repeatBenchCommand } from './repeat-command.ts'

/** Dots of all plots, cards, rows of further verdicts, and characters of all groups. They keep a report below 300 kB. */
const MAX_POINTS = 2500
const MAX_CARDS = 40
const MAX_ROWS = 100
const MAX_GROUPS = 130_000

/** Those to look at first, if there are more than cards. */
const ORDER = ['broken', 'inconclusive', 'holds'] as const

const DISTRIBUTION: DistributionTexts = {
  title: 'CPU per call, by process',
  caption: 'A dot is a process, which calls one function only.',
  dots: 'processes',
  format: timeOfCall,
}

export function functionsPage(results: readonly FunctionRaceResult[]): Markup {
  const [first] = results
  if (!first) return page('No functions', '', [])
  const isSingle = results.length === 1
  const title = isSingle ? first.name : `${results.length} groups of functions`
  const command = repeatBenchCommand(results)
  return page(title, results.at(-1)!.finishedAt, [
    ...verdictsOf(results, isSingle),
    ...groupsOf(results, isSingle),
    html`<h2>Conditions</h2>
      ${conditionList(first.environment, conditionsOf(results))}`,
    command === undefined
      ? html`<h2>Repeat it</h2>
          <p class="soft">The functions are inline: run the program or the test that has them.</p>`
      : repeatSection(command, 'Add the environment of your race: a result does not contain it.'),
  ])
}

type NamedClaim = Judged['claims'][number]

function verdictsOf(results: readonly FunctionRaceResult[], isSingle: boolean): Markup[] {
  const named = <T extends object>(name: string, items: readonly T[]): (T & { case?: string | undefined })[] =>
    items.map((item) => (isSingle ? item : { ...item, case: name }))
  const claims = results.flatMap((result) => named(result.name, result.claims))
  const ratios = results.flatMap((result) => named(result.name, result.ratios))
  const sorted =
    claims.length > MAX_CARDS ? claims.toSorted((a, b) => ORDER.indexOf(a.verdict) - ORDER.indexOf(b.verdict)) : claims
  const formats = CALL_FORMATS
  const cards = claimCards({ claims: sorted.slice(0, MAX_CARDS), ratios: ratios.slice(0, 2 * MAX_CARDS), formats })
  const more = sorted.slice(MAX_CARDS)
  return [cardSection('Verdicts', cards), ...(more.length > 0 ? [verdictTable(more)] : [])]
}

/** Verdicts without a card. */
function verdictTable(claims: readonly NamedClaim[]): Markup {
  const rows = claims.slice(0, MAX_ROWS).map(
    ({ contender, over, case: name, atLeast, verdict, estimates: [estimate] }) =>
      html`<tr>
        <th scope="row">${contender} is at least ${bound(atLeast)} ${over}</th>
        <td>${name}</td>
        <td>${verdict}</td>
        <td>${estimate ? ratioWithInterval(estimate) : '–'}</td>
      </tr>`,
  )
  const caption = leftOut(claims.length - rows.length, 'verdicts')
  return figure('More verdicts', caption, [dataTable(['claim', 'group', 'verdict', 'ratio'].map(headCell), rows)])
}

function groupsOf(results: readonly FunctionRaceResult[], isSingle: boolean): Markup[] {
  const sections: Markup[] = []
  let room = MAX_GROUPS
  for (const result of results) {
    const parts = measurementsOf(result, MAX_POINTS / results.length)
    room -= parts.reduce((sum, { text }) => sum + text.length, 0)
    if (room < 0 && sections.length > 0) break
    sections.push(html`${isSingle ? undefined : html`<h2>${result.name}</h2>`}${parts}`)
  }
  const missing = results.length - sections.length
  return missing > 0 ? [...sections, html`<p class="soft">${leftOut(missing, 'groups')}</p>`] : sections
}

function measurementsOf(result: FunctionRaceResult, maxPoints: number): Markup[] {
  const names = result.functions.map(({ name }) => name)
  const maxDots = Math.max(20, Math.floor(maxPoints / Math.max(1, names.length)))
  return [
    ratioPlot({ ratios: result.ratios, formats: CALL_FORMATS }),
    functionTable(result),
    distributionPlot(result.rounds, names, maxDots, DISTRIBUTION),
  ].filter((part) => part !== undefined)
}

function functionTable({ functions, rounds }: FunctionRaceResult): Markup {
  const names = functions.map(({ name }) => name)
  const rows = functions
    .toSorted((a, b) => a.cpu - b.cpu)
    .map(({ name, cpu, throughput, processes, discarded }) => {
      const own = countRounds(rounds.filter(({ subject }) => subject === name)).counted
      const time = (of: 'p50' | 'p99'): string =>
        own.length === 0 ? '–' : timeOfCall(1000 * median(own.map((round) => round[of])))
      return html`<tr>
        <th scope="row"><span class="swatch ${colorOf(names, name)}"></span>${name}</th>
        <td>${timeOfCall(cpu)}</td>
        <td>${perSecond(throughput)}</td>
        <td>${time('p50')}</td>
        <td>${time('p99')}</td>
        <td>${processes}</td>
        <td>${discarded}</td>
      </tr>`
    })
  const head = ['function', 'CPU per call', 'calls/s', 'p50', 'p99', 'processes', 'discarded']
  return figure(
    'Measurements',
    'Means over the processes. p50 and p99 are times of a call: medians of the processes.',
    [dataTable(head.map(headCell), rows)],
  )
}

function conditionsOf(results: readonly FunctionRaceResult[]): (readonly [string, string])[] {
  const { method } = results[0]!
  const functions = results.flatMap((result) => result.functions)
  const processes = functions.reduce((sum, one) => sum + one.processes, 0)
  const discarded = functions.reduce((sum, one) => sum + one.discarded, 0)
  const files = [...new Set(results.flatMap(({ file }) => file ?? []))]
  return [
    ...(files.length > 0 ? [['Files', files.slice(0, MAX_ROWS).join(', ')] as const] : []),
    ['Processes', `${processes}, and ${discarded} discarded because other programs were busy`],
    ['Process', `${method.duration} ms of calls, after a warm-up of ${method.warmUp} ms`],
    ['Method', `at most ${method.replicas} processes of each function, ${method.looks} looks, alpha ${method.alpha}`],
  ]
}

function leftOut(count: number, what: string): string {
  return count === 0 ? '' : `${count} more ${what} are left out, to keep the file small.`
}
