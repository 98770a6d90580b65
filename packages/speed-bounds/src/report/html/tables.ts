import { megabytes, microseconds, milliseconds, percentage, perSecond } from '../format.ts'
import type { RaceResult } from '../result.ts'
import { dataTable, headCell } from './data-table.ts'
import { html, type Markup } from './markup.ts'
import { colorOf, figure } from './plot.ts'

/** Rows of the bottlenecks. */
const MAX_BARS = 60
const LIMITS = ['server', 'generator', 'latency'] as const

/** The measurements of each subject. */
export function summaryTable(result: RaceResult, testCase: string): Markup {
  const names = result.subjects.map(({ name }) => name)
  const rows = result.summaries
    .filter((summary) => summary.case === testCase)
    .toSorted((a, b) => a.mean.cpu - b.mean.cpu)
    .map(
      ({ subject, mean }) =>
        html`<tr>
          <th scope="row"><span class="swatch ${colorOf(names, subject)}"></span>${subject}</th>
          <td>${microseconds(mean.cpu)}</td>
          <td>${perSecond(mean.throughput)}</td>
          <td>${milliseconds(mean.p50)}</td>
          <td>${milliseconds(mean.p99)}</td>
          <td>${megabytes(mean.rss)}</td>
          <td>${megabytes(mean.peakRss)}</td>
        </tr>`,
    )
  const head = ['subject', 'CPU per request', 'requests/s', 'p50', 'p99', 'memory', 'peak']
  return figure('Measurements', 'Means over the processes. Less CPU per request is better.', [
    dataTable(head.map(headCell), rows),
  ])
}

/** What limited the rate of the rounds. */
export function bottleneckBars({ summaries, cases }: RaceResult): Markup | undefined {
  if (summaries.length === 0) return undefined
  const rows = summaries.slice(0, MAX_BARS).map((summary) => {
    const name = cases.length > 1 ? `${summary.subject}, ${summary.case}` : summary.subject
    const shares = LIMITS.map((limit) => ({ limit, share: summary.bottleneck[limit] / summary.rounds }))
    const text = shares
      .filter(({ share }) => share > 0)
      .map(({ limit, share }) => `${limit} ${Math.round(share * 100)}\u00A0%`)
      .join(', ')
    const parts = shares
      .filter(({ share }) => share > 0)
      .map(({ limit, share }) => html`<span class="${limit}" style="flex-grow:${share.toFixed(3)}"></span>`)
    return html`<tr>
      <th scope="row">${name}</th>
      <td><div class="stack" role="img" aria-label="${text}">${parts}</div></td>
      <td class="figure">${text}<br /><small>busy ${percentage(summary.utilization)} of the time</small></td>
    </tr>`
  })
  const keys = LIMITS.map((limit) => html`<li class="${limit}">${limit}</li>`)
  return figure(
    'Bottleneck',
    'Share of rounds that the server or the generator limited. Latency: both had time. A generator that limits says nothing about throughput.',
    [
      html`<ul class="legend limits">
        ${keys}
      </ul>`,
      html`<table class="rows">
        <tbody>
          ${rows}
        </tbody>
      </table>`,
    ],
  )
}

/** Subjects with failed requests, within `maxErrorRate`. */
export function failureNotes(result: RaceResult, testCase: string): Markup[] {
  return result.subjects.flatMap(({ name }) => {
    const own = result.rounds.filter((round) => round.subject === name && round.case === testCase)
    const failed = own.reduce((sum, { failures }) => sum + failures, 0)
    const sent = own.reduce((sum, { responses }) => sum + responses, failed)
    return failed > 0
      ? html`<p class="soft">${name} failed ${failed} of ${sent} requests (${percentage(failed / sent)}).</p>`
      : []
  })
}
