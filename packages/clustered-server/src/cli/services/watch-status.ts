import { setTimeout as sleep } from 'node:timers/promises'
import type { ServiceStatus } from '../../observability/service-status.ts'
import { servicesTable, statusLine, statusTable } from './status-text.ts'

/** Milliseconds between two polls. */
const POLL_MS = 1000
/** Start of an escape sequence. */
const ESCAPE = '\u001B['
const HIDE_CURSOR = '\u001B[?25l'
const SHOW_CURSOR = '\u001B[?25h'
const CLEAR_LINE = '\u001B[K'
const CLEAR_BELOW = '\u001B[J'

/** The services as text. */
export function statusText(services: readonly ServiceStatus[]): string {
  const [first, ...more] = services
  return first !== undefined && more.length === 0 ? statusTable(first) : servicesTable(services)
}

/**
 * Shows services again each second: in place on a terminal, otherwise a line for each change.
 *
 * @param poll returns the services; `undefined` when the one that is shown has ended
 */
export async function watchStatus(poll: () => Promise<readonly ServiceStatus[] | undefined>): Promise<void> {
  const show = process.stdout.isTTY ? onTerminal() : asLines()
  // The reader of a pipe ends the command by closing it.
  process.stdout.on('error', () => process.exit())
  for (let services = await poll(); services; services = await poll()) {
    show(services)
    await sleep(POLL_MS)
  }
}

function onTerminal(): (services: readonly ServiceStatus[]) => void {
  let height = 0
  process.stdout.write(HIDE_CURSOR)
  process.once('exit', () => process.stdout.write(SHOW_CURSOR))
  for (const signal of ['SIGINT', 'SIGTERM', 'SIGHUP'] as const) process.once(signal, () => process.exit())
  return (services) => {
    const { columns, rows } = process.stdout
    const lines = statusText(services)
      .trimEnd()
      .split('\n')
      .slice(0, (rows || 24) - 1)
    const up = height > 0 ? `\u001B[${height}A` : ''
    height = lines.length
    const text = lines.map((line) => `${cut(line, columns || 80)}${CLEAR_LINE}\n`).join('')
    process.stdout.write(`${up}${text}${CLEAR_BELOW}`)
  }
}

function asLines(): (services: readonly ServiceStatus[]) => void {
  let before = new Map<number, string>()
  return (services) => {
    const now = new Map(services.map((status) => [status.pid, statusLine(status)]))
    const changed = [...now].filter(([pid, line]) => before.get(pid) !== line)
    before = now
    for (const [, line] of changed) process.stdout.write(`${new Date().toISOString()} ${line}\n`)
  }
}

/** Cuts a line to the width of the terminal: one that wraps would shift all others. Escape sequences have no width. */
function cut(line: string, columns: number): string {
  const [first = '', ...styled] = line.split(ESCAPE)
  let rest = columns
  const take = (text: string): string => {
    const taken = text.slice(0, rest)
    rest -= taken.length
    return taken
  }
  return [
    take(first),
    ...styled.map((part) => {
      const end = part.indexOf('m') + 1
      return `${ESCAPE}${part.slice(0, end)}${take(part.slice(end))}`
    }),
  ].join('')
}
