// The tables of a load.

import type { LoadPhase, LoadReport } from '../../load-test/load-report.ts'
import { megabytes, microseconds, milliseconds, percentage, perSecond } from '../format.ts'
import { intended } from '../load-tables.ts'
import { dataTable, headCell } from './data-table.ts'
import { html, type Markup } from './markup.ts'
import { figure } from './plot.ts'

/** Rows of a table. They keep a report below 300 kB. */
export const MAX_ROWS = 60

/** Milliseconds below which it does not matter that a request is late. */
const MIN_LATENESS = 0.1

/** Latency and cost of each load. */
export function loadTable({ load, phases, total }: LoadReport): Markup {
  const isRate = load.kind === 'rate'
  const head = [
    ...['load', ...(isRate ? ['intended/s'] : []), 'responses/s', 'p50', 'p90', 'p99', 'max'],
    ...['CPU/request', 'memory'],
  ]
  const rows = [...phases.slice(0, MAX_ROWS), ...(total ? [total] : [])].map((phase) => [
    ...(isRate ? [intended(phase)] : []),
    ...[perSecond(phase.throughput), ...latencyCells(phase)],
    phase.server && phase.latency ? microseconds(phase.server.cpu) : '–',
    phase.server ? megabytes(phase.server.rss) : '–',
  ])
  return tableFigure('Measurements', `Latency counts from the intended time of each request.${leftOut(phases)}`, {
    head,
    names: [...phases.slice(0, MAX_ROWS), ...(total ? [total] : [])].map((phase) => phase.load),
    rows,
  })
}

function latencyCells({ latency }: LoadPhase): string[] {
  if (!latency) return ['–', '–', '–', '–']
  return [latency.p50, latency.p90, latency.p99, latency.max].map((value) => milliseconds(value))
}

/** Who limited the rate, and whether the generator kept its times. */
export function bottleneckTable({ phases }: LoadReport): Markup {
  const shown = phases.slice(0, MAX_ROWS)
  const rows = shown.map(({ server, generator, limitedBy }) => [
    limitedBy === 'latency' ? 'neither' : limitedBy,
    server ? percentage(server.utilization) : '–',
    percentage(generator.utilization),
    generator.lateness < MIN_LATENESS ? `below ${MIN_LATENESS} ms` : milliseconds(generator.lateness),
    perSecond(generator.connections),
    server ? server.foreignCpu.toFixed(2) : '–',
  ])
  return tableFigure(
    'Bottleneck',
    `Share of the time in which server and generator had work. Sent late: 99th percentile, a part of the latency.${leftOut(phases)}`,
    {
      head: [
        'load',
        'limited by',
        'server busy',
        'generator busy',
        'sent late',
        'connections',
        'other programs, cores',
      ],
      names: shown.map(({ load }) => load),
      rows,
    },
  )
}

/** Failed requests by kind. */
export function failureTable({ phases }: LoadReport): Markup {
  const failing = phases.filter(({ failures }) => failedOf(failures) > 0)
  if (failing.length === 0) {
    return figure('Failed requests', 'No request failed.', [])
  }
  const shown = failing.slice(0, MAX_ROWS)
  const rows = shown.map(({ responses, failures }) => [
    percentage(failedOf(failures) / (failedOf(failures) + responses)),
    ...[failures.errors, failures.timeouts, failures.unexpectedStatus].map((count) => perSecond(count)),
    failures.message ?? '–',
  ])
  return tableFigure('Failed requests', `They have no latency.${leftOut(failing)}`, {
    head: ['load', 'share', 'errors', 'timeouts', 'other statuses', 'an error'],
    names: shown.map(({ load }) => load),
    rows,
  })
}

function failedOf({ errors, timeouts, unexpectedStatus }: LoadPhase['failures']): number {
  return errors + timeouts + unexpectedStatus
}

function leftOut({ length }: readonly unknown[]): string {
  return length > MAX_ROWS ? ` ${length - MAX_ROWS} more loads are left out, to keep the file small.` : ''
}

function tableFigure(
  title: string,
  caption: string,
  { head, names, rows }: { head: readonly string[]; names: readonly string[]; rows: readonly (readonly string[])[] },
): Markup {
  const lines = rows.map(
    (cells, index) =>
      html`<tr>
        <th scope="row">${names[index]}</th>
        ${cells.map((cell) => html`<td>${cell}</td>`)}
      </tr>`,
  )
  return figure(title, caption, [dataTable(head.map(headCell), lines)])
}
