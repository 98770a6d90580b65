import { stripVTControlCharacters, styleText } from 'node:util'
import type { ServiceStatus } from '../../observability/service-status.ts'

type Style = Parameters<typeof styleText>[0]

const STYLES: Readonly<Record<string, Style>> = {
  active: 'green',
  ready: 'green',
  starting: 'yellow',
  'not ready': 'red',
  lingering: 'dim',
  retiring: 'dim',
  standby: 'dim',
}

/** A service as messages show it: `shop (4711)`. */
export function titleOf({ name, pid }: Pick<ServiceStatus, 'name' | 'pid'>): string {
  return name === undefined ? String(pid) : `${printable(name)} (${pid})`
}

/** A service and its workers as a table. */
export function statusTable(status: ServiceStatus): string {
  const { generation, workers, lingering = [], reloads, failedReloads, reloadError } = status
  const head = `${titleOf(status)}: ${styled(readiness(status))}, generation ${generation}, ${reloads} ${reloads === 1 ? 'reload' : 'reloads'}, ${failedReloads} failed\n`
  const failure = reloadError === undefined ? '' : `last reload: ${firstLine(reloadError)}\n`
  if (workers.length === 0) return `${head}${failure}`
  const older = lingering.map((build) => `generation ${build.generation} lingers, ends in ${timeTo(build.until)}\n`)
  const rows = workers.map((worker) => [
    String(worker.id),
    String(worker.pid),
    worker.state,
    String(worker.generation),
    ageOf(worker.startedAt),
    String(worker.connections),
    `${Math.round(worker.rss / 2 ** 20)} MiB`,
    `${Math.round(worker.utilization * 100)} %`,
  ])
  return `${head}${failure}${older.join('')}${table([['worker', 'pid', 'state', 'generation', 'age', 'connections', 'rss', 'busy'], ...rows])}`
}

/** Several services as a table. */
export function servicesTable(services: readonly ServiceStatus[]): string {
  const rows = services.map((status) => [
    printable(status.name ?? '-').slice(0, 24),
    String(status.pid),
    readiness(status),
    `${activeOf(status)} of ${status.size}`,
    String(status.generation),
    ageOf(status.startedAt),
    String(status.failedReloads),
  ])
  return table([['name', 'pid', 'state', 'workers', 'generation', 'age', 'failed'], ...rows])
}

/** A service in one line, without what changes all the time. */
export function statusLine(status: ServiceStatus): string {
  const { generation, size, workers } = status
  const each = workers.map(({ id, pid, state }) => `${id} (${pid}) ${state}`)
  const count = `${activeOf(status)} of ${size} workers`
  const text = `${titleOf(status)}: ${readiness(status)}, generation ${generation}, ${count}`
  return each.length === 0 ? text : `${text}: ${each.join(', ')}`
}

/** Without line breaks and escape sequences, which texts of an app may contain. */
function printable(text: string): string {
  return stripVTControlCharacters(text).replaceAll(/\p{C}/gu, ' ')
}

function firstLine(text: string): string {
  return printable(text.split('\n', 1)[0]!)
}

function readiness({ ready }: ServiceStatus): string {
  return ready ? 'ready' : 'not ready'
}

function activeOf({ ready, workers }: ServiceStatus): number {
  if (workers.length === 0) return Number(ready)
  return workers.filter(({ state }) => state === 'active').length
}

function ageOf(startedAt: number): string {
  return durationOf(Date.now() - startedAt)
}

function timeTo(end: number): string {
  return durationOf(end - Date.now())
}

/** At most two units: `3d 4h`. */
function durationOf(milliseconds: number): string {
  const seconds = Math.max(0, Math.round(milliseconds / 1000))
  if (seconds < 60) return `${seconds}s`
  const minutes = Math.floor(seconds / 60)
  if (minutes < 60) return `${minutes}m ${seconds % 60}s`
  const hours = Math.floor(minutes / 60)
  return hours < 24 ? `${hours}h ${minutes % 60}m` : `${Math.floor(hours / 24)}d ${hours % 24}h`
}

function table(rows: readonly (readonly string[])[]): string {
  const widths = rows[0]!.map((_, column) => Math.max(...rows.map((row) => row[column]!.length)))
  const lines = rows.map((row) =>
    row.map((cell, column) => `${' '.repeat(widths[column]! - cell.length)}${styled(cell)}`),
  )
  return lines.map((cells) => `${cells.join('  ')}\n`).join('')
}

/** In color on a terminal, unless NO_COLOR is set. */
function styled(text: string): string {
  const style = Object.hasOwn(STYLES, text) ? STYLES[text] : undefined
  return style === undefined ? text : styleText(style, text, { stream: process.stdout })
}
