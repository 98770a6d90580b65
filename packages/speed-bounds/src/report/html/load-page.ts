import type { LoadPhase, LoadReport } from '../../load-test/load-report.ts'
import { microseconds, milliseconds, percentage, perSecond } from '../format.ts'
import { LATE, loadTitle } from '../load-tables.ts'
import { cardSection } from './cards.ts'
import { conditionList } from './conditions.ts'
import { latencyPlot } from './latency-plot.ts'
import { cpuByRate, latencyByRate, rateBars } from './load-plots.ts'
import { bottleneckTable, failureTable, loadTable } from './load-figures.ts'
import { html, type Markup } from './markup.ts'
import { page, repeatSection } from './page.ts'
import { thinned } from './plot.ts'
import { repeatLoadCommand } from './repeat-command.ts'

/** Cards, and curves of a plot: more than there are colors say nothing. */
const MAX_SHOWN = 8

export function loadPage(report: LoadReport): Markup {
  const all = withUniqueNames(report)
  const { phases, finishedAt } = all
  const shown = thinned(phases, MAX_SHOWN)
  const names = shown.map(({ load }) => load)
  const latencies = shown.flatMap(({ load, latency }) => (latency ? { name: load, latency } : []))
  const note = shown.length < phases.length ? ` ${shown.length} of ${phases.length} loads.` : ''
  return page(loadTitle(all), finishedAt, [
    cardSection('Loads', [...ceilingCard(all), ...shown.map((phase) => phaseCard(phase, all))]),
    latenessNote(all),
    rateBars(all),
    loadTable(all),
    latencyPlot(latencies, names, { kind: 'load', note }),
    latencyByRate(all),
    cpuByRate(all),
    bottleneckTable(all),
    failureTable(all),
    html`<h2>Conditions</h2>
      ${conditionList(all.environment, conditionsOf(all))}`,
    repeatSection(
      repeatLoadCommand(report),
      'Add the request headers, the body, the expected status and the environment of your load: a report does not contain them.',
    ),
  ])
}

/** The same load can come twice. Its color tells one from the other. */
function withUniqueNames(report: LoadReport): LoadReport {
  const counts = new Map<string, number>()
  const phases = report.phases.map((phase) => {
    const count = (counts.get(phase.load) ?? 0) + 1
    counts.set(phase.load, count)
    return count === 1 ? phase : { ...phase, load: `${phase.load} (${count})` }
  })
  return { ...report, phases }
}

function ceilingCard({ ceiling }: LoadReport): Markup[] {
  if (!ceiling) return []
  const isOfServer = ceiling.limitedBy !== 'generator'
  return [
    html`<article class="card ${isOfServer ? 'open' : 'unsure'}">
      <p class="verdict">${isOfServer ? 'ceiling' : 'ceiling of the generator'}</p>
      <h3>highest rate of a closed loop</h3>
      <p class="big">${perSecond(ceiling.rate)}/s</p>
      <p class="soft">with ${ceiling.users} connections</p>
    </article>`,
  ]
}

function phaseCard(
  { load, rate, latency, server, failures, throughput, responses }: LoadPhase,
  { ceiling }: LoadReport,
): Markup {
  const failed = failures.errors + failures.timeouts + failures.unexpectedStatus
  // A load that is a share already has it in its name.
  const isShare = load.includes('%') || !ceiling || !rate || rate.from !== rate.to
  const share = isShare ? undefined : html` <small>${percentage(rate.from / ceiling.rate)} of the ceiling</small>`
  const facts = [
    latency ? `p50 ${milliseconds(latency.p50)}, max ${milliseconds(latency.max)}` : 'no right response',
    server && latency ? `${microseconds(server.cpu)} of CPU per request` : undefined,
    failed > 0 ? `${percentage(failed / (failed + responses))} of requests failed` : undefined,
  ]
  return html`<article class="card ${failed > 0 ? 'worse' : 'open'}">
    <p class="verdict">${failed > 0 ? `✗ ${load}` : load}</p>
    <h3>p99 latency at ${perSecond(throughput)} responses/s${share}</h3>
    <p class="big">${latency ? milliseconds(latency.p99) : '–'}</p>
    ${facts.map((fact) => fact && html`<p class="soft">${fact}</p>`)}
  </article>`
}

/** A generator without a core makes the server look slow. */
function latenessNote({ phases }: LoadReport): Markup | undefined {
  const late = phases.map(({ generator }) => generator.lateness).filter((lateness) => lateness >= LATE)
  if (late.length === 0) return undefined
  const most = milliseconds(Math.max(...late))
  return html`<p class="soft">
    At ${late.length} of ${phases.length} loads, the generator sent requests late: at worst, 1 % of them by ${most} or
    more. It needs more CPU, and the latency contains its delay.
  </p>`
}

function conditionsOf({ subject, request, load, phases }: LoadReport): (readonly [string, string])[] {
  const seconds = phases.reduce((sum, { duration }) => sum + duration, 0) / 1000
  const kind =
    load.kind === 'rate'
      ? `open loop, up to ${load.connections} connections`
      : `closed loop, one connection per user, mean pause ${load.pause} ms`
  return [
    ['Subject', subject],
    ['Request', `${request.protocol}, ${request.method} ${request.path}`],
    ['Load', `${kind}, ${load.keepAlive ? 'keep-alive' : 'a connection per request'}`],
    ['Time', `${seconds} s, after a warm-up of ${load.warmUp} ms`],
    ['Timeout', `${load.requestTimeout} ms from the intended time of a request`],
  ]
}
