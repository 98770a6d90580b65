import { styleText } from 'node:util'
import type { LoadCeiling, LoadPhase, LoadReport } from '../load-test/load-report.ts'
import { counted, machineText, megabytes, microseconds, milliseconds, percentage, perSecond } from './format.ts'
import { markdownText } from './markdown-text.ts'
import type { Place } from './tables.ts'
import { cut, wrap } from './terminal-width.ts'
import { type Column, drawMarkdown, drawTable } from './text-table.ts'

const COLUMNS: readonly Column[] = [
  { title: 'load', align: 'left', rank: 0 },
  { title: 'intended/s', align: 'right', rank: 5 },
  { title: 'responses/s', align: 'right', rank: 1 },
  { title: 'p50', align: 'right', rank: 3 },
  { title: 'p90', align: 'right', rank: 7 },
  { title: 'p99', align: 'right', rank: 0 },
  { title: 'max', align: 'right', rank: 6 },
  { title: 'CPU/request', align: 'right', rank: 0 },
  { title: 'memory', align: 'right', rank: 4 },
  { title: 'limited by', align: 'left', rank: 2 },
]

/** Requests that are sent this late, in milliseconds, are worth a sentence. */
export const LATE = 5

/**
 * The report of {@link load} as a table for a terminal.
 *
 * @example
 * console.log(loadToTerminal(await load('./server.ts', { rate: 1000 })))
 */
export function loadToTerminal(report: LoadReport, { columns = Infinity }: Place = {}): string {
  return [
    styleText('bold', cut(loadTitle(report), columns)),
    ...drawTable(shown(report), rowsOf(report, columns), columns),
    ...sentencesOf(report).map((text) => wrap(text, columns)),
    styleText('dim', wrap(methodText(report), columns)),
  ].join('\n')
}

/**
 * The same as Markdown.
 *
 * @example
 * writeFileSync('load.md', loadToMarkdown(await load('./server.ts', { rate: 1000 })))
 */
export function loadToMarkdown(report: LoadReport): string {
  const table = drawMarkdown(shown(report), rowsOf(report))
  const parts = [`### ${markdownText(loadTitle(report))}`, ...table, ...sentencesOf(report).map(markdownText)]
  return `${[...parts, markdownText(methodText(report))].join('\n\n')}\n`
}

/** `GET / of node server.ts` */
export function loadTitle({ request: { protocol, method, path }, subject }: LoadReport): string {
  return `${protocol === 'websocket' ? 'WebSocket' : method} ${path} of ${subject}`
}

/** Users have no intended rate. */
function shown({ load }: LoadReport): readonly Column[] {
  return COLUMNS.filter(({ title }) => load.kind === 'rate' || title !== 'intended/s')
}

function rowsOf({ load, phases, total }: LoadReport, columns = Infinity): string[][] {
  // A long name leaves room for p99 and CPU per request.
  const nameWidth = Math.max(8, columns - 32)
  return [...phases, ...(total ? [total] : [])].map((phase) => [
    cut(phase.load, nameWidth),
    ...(load.kind === 'rate' ? [intended(phase)] : []),
    ...cellsOf(phase),
  ])
}

export function intended({ rate }: LoadPhase): string {
  const { from, to } = rate!
  return from === to ? perSecond(from) : `${perSecond(from)} to ${perSecond(to)}`
}

function cellsOf({ throughput, latency, server, limitedBy }: LoadPhase): string[] {
  const { p50, p90, p99, max } = latency ?? {}
  return [
    perSecond(throughput),
    ...[p50, p90, p99, max].map((value) => (value === undefined ? '-' : milliseconds(value))),
    server && latency ? microseconds(server.cpu) : '-',
    server ? megabytes(server.rss) : '-',
    limitedBy === 'latency' ? '-' : limitedBy,
  ]
}

/** What the figures of a table do not tell. */
function sentencesOf({ ceiling, phases }: LoadReport): string[] {
  return [
    ...(ceiling ? [ceilingOf(ceiling)] : []),
    ...phases.flatMap((phase) => [...failureOf(phase), ...latenessOf(phase)]),
  ]
}

function ceilingOf({ rate, users, limitedBy }: LoadCeiling): string {
  const limit = limitedBy === 'generator' ? ' The generator limits it: the server can do more.' : ''
  return `The ceiling is ${perSecond(rate)} requests/s, with ${users} connections.${limit}`
}

function failureOf({ load, responses, failures }: LoadPhase): string[] {
  const { errors, timeouts, unexpectedStatus, message } = failures
  const failed = errors + timeouts + unexpectedStatus
  if (failed === 0) return []
  const share = percentage(failed / (failed + responses))
  const kinds = `${counted(errors, 'error')}, ${counted(timeouts, 'timeout')}, ${counted(unexpectedStatus, 'response')} with another status`
  return [`At ${load}, ${counted(failed, 'request')} failed (${share}): ${kinds}.${message ? ` ${message}` : ''}`]
}

function latenessOf({ load, generator: { lateness } }: LoadPhase): string[] {
  if (lateness < LATE) return []
  return [`At ${load}, the generator sent 1 % of requests at least ${milliseconds(lateness)} late: it needs more CPU.`]
}

function methodText({ load, request, phases, environment }: LoadReport): string {
  const kind =
    load.kind === 'rate' ? `open loop, up to ${load.connections} connections` : 'closed loop, one connection per user'
  const duration = phases.reduce((sum, phase) => sum + phase.duration, 0) / 1000
  return `${request.protocol}, ${kind}, ${duration} s of load.\n${machineText(environment)}`
}
