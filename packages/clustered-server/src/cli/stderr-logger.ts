import { hostname } from 'node:os'
import type { Logger } from '../options/types.ts'
import { showsStacks, stackWithCauses } from './error-text.ts'

/** Levels of pino. */
const LEVELS = { info: 30, warn: 40, error: 50 } as const

/** Logs to stderr: text on a terminal, otherwise JSON lines like those of pino. */
export function stderrLogger(): Logger {
  const line = process.stderr.isTTY ? asText : asJson
  const at =
    (level: keyof typeof LEVELS) =>
    (about: object, message: string): void =>
      void process.stderr.write(`${line(level, about, message)}\n`)
  return { info: at('info'), warn: at('warn'), error: at('error') }
}

function asText(level: keyof typeof LEVELS, _about: object, message: string): string {
  const time = new Date().toTimeString().slice(0, 8)
  return `${time} ${level === 'info' ? '' : `${level}: `}${message}`
}

function asJson(level: keyof typeof LEVELS, about: object, message: string): string {
  const base = { level: LEVELS[level], time: Date.now(), pid: process.pid, hostname: hostname() }
  const replacer = (_key: string, value: unknown): unknown => (value instanceof Error ? errorAsJson(value) : value)
  return JSON.stringify({ ...base, ...about, msg: message }, replacer)
}

/** An error without its stack, unless `NODE_DEBUG=clustered-server` is set. */
function errorAsJson(error: Error): object {
  const { name, message } = error
  if (showsStacks()) return { type: name, message, stack: stackWithCauses(error) }
  return { type: name, message: message.split('\n', 1)[0] }
}
