import type { CaseComparison, Comparison } from '../../compare/comparison.ts'
import { missingText, NO_INTERVAL, whyUnused } from '../claim-sentences.ts'
import { bound, percentage, ratio, ratioWithInterval } from '../format.ts'
import { METRIC_FORMATS, type MetricFormats } from '../metric-formats.ts'
import type { Judged } from './judged.ts'
import { html, type Markup } from './markup.ts'
import { labelsAcross } from './plot.ts'
import { intervalBar, ratioAxis } from './ratio-plot.ts'

const MARKS = {
  holds: { tone: 'better', mark: '✓' },
  broken: { tone: 'worse', mark: '✗' },
  inconclusive: { tone: 'unsure', mark: '?' },
  faster: { tone: 'better', mark: '▲' },
  slower: { tone: 'worse', mark: '▼' },
  within: { tone: 'open', mark: '=' },
} as const

/** A section of cards. */
export function cardSection(label: string, cards: readonly Markup[]): Markup {
  return html`<section class="cards" aria-label="${label}">${cards}</section>`
}

/** A card for each claim. Without claims, one for the CPU of each other subject. */
export function claimCards({ claims, ratios, formats }: Judged): Markup[] {
  return claims.length > 0
    ? claims.map((claim) => claimCard(claim, formats))
    : ratios.filter(({ metric }) => metric === 'cpu').map((estimate) => ratioCard(estimate, formats))
}

function claimCard(
  { contender, over, case: name, atLeast, verdict, estimates, missing }: Judged['claims'][number],
  formats: MetricFormats,
): Markup {
  const [decisive] = estimates
  const axis = ratioAxis(estimates, [atLeast])
  const bars = estimates.map((estimate) => {
    const { title } = formats[estimate.metric]
    const text = `${title}: ${ratioWithInterval(estimate)}`
    const reason = whyUnused(estimate)
    const note = reason === undefined ? '' : `. Not used: ${reason}.`
    const tone = reason === undefined ? MARKS[verdict].tone : 'open'
    return html`<p class="soft">${text}${note}</p>
      ${intervalBar(estimate, axis, { label: `${text}, claimed at least ${bound(atLeast)}`, bound: atLeast, tone })}`
  })
  return html`<article class="card ${MARKS[verdict].tone}">
    <p class="verdict"><span aria-hidden="true">${MARKS[verdict].mark}</span> ${verdict}</p>
    <h3>${contender} is at least ${bound(atLeast)} ${over}${caseOf(name)}</h3>
    <p class="big">${decisive ? ratio(decisive.ratio) : '–'}</p>
    ${decisive ? [...bars, labelsAcross(axis, ratio)] : html`<p class="soft">${missingText(missing)}.</p>`}
  </article>`
}

function caseOf(name: string | undefined): Markup | undefined {
  return name === undefined ? undefined : html` <small>${name}</small>`
}

function ratioCard(estimate: Judged['ratios'][number], formats: MetricFormats): Markup {
  const { contender, over, case: name, low, high } = estimate
  const axis = ratioAxis([estimate])
  const tone = low > 1 ? 'better' : high < 1 ? 'worse' : 'unsure'
  const text = `${formats.cpu.title}: ${ratioWithInterval(estimate)}`
  return html`<article class="card ${tone}">
    <p class="verdict">measured, no claim</p>
    <h3>${contender} over ${over}${caseOf(name)}</h3>
    <p class="big">${ratio(estimate.ratio)}</p>
    <p class="soft">${text}</p>
    ${intervalBar(estimate, axis, { label: text, tone })}${labelsAcross(axis, ratio)}
  </article>`
}

/** A card for each case of a comparison of two commits. */
export function comparisonCards({ cases, metric, margin }: Comparison): Markup {
  return cardSection(
    'Verdicts',
    cases.map((one) => caseCard(one, METRIC_FORMATS[metric], margin)),
  )
}

function caseCard(
  { subject, case: name, verdict, base, head, ratio: middle, low, high }: CaseComparison,
  { title, format }: (typeof METRIC_FORMATS)['cpu'],
  margin: number,
): Markup {
  const { mark, tone } = MARKS[verdict]
  const word = verdict === 'within' ? `within ±${percentage(margin)}` : verdict
  const text = (value: number | null): string => (value === null ? 'none' : format(value))
  const figures =
    base === null && head === null ? undefined : html`<p class="soft">${title}: ${text(base)} → ${text(head)}</p>`
  let evidence = html`<p class="soft">${NO_INTERVAL}</p>`
  if (middle !== null && low !== null && high !== null) {
    const estimate = { ratio: middle, low, high }
    const axis = ratioAxis([estimate], [1 / (1 + margin), 1 + margin])
    const interval = ratioWithInterval(estimate)
    evidence = html`<p class="soft">${interval}</p>
      ${intervalBar(estimate, axis, { label: interval, tone })}${labelsAcross(axis, ratio)}`
  }
  return html`<article class="card ${tone}">
    <p class="verdict"><span aria-hidden="true">${mark}</span> ${word}</p>
    <h3>${subject} <small>${name}</small></h3>
    <p class="big">${middle === null ? '–' : ratio(middle)}</p>
    ${figures} ${evidence}
  </article>`
}
