import { hostname } from 'node:os'
import { debuglog } from 'node:util'
import type { Logger } from '../options/options.ts'

/** Levels as pino has them. */
const LEVELS = { info: 30, warn: 40, error: 50 } as const

/** Logs to stderr: for people when that is a terminal, else lines of JSON as pino writes them. */
export function stderrLogger(): Logger {
  const line = process.stderr.isTTY ? forPeople : asJson
  const at =
    (level: keyof typeof LEVELS) =>
    (about: object, message: string): void =>
      void process.stderr.write(`${line(level, about, message)}\n`)
  return { info: at('info'), warn: at('warn'), error: at('error') }
}

function forPeople(level: keyof typeof LEVELS, _about: object, message: string): string {
  const time = new Date().toTimeString().slice(0, 8)
  return `${time} ${level === 'info' ? '' : `${level}: `}${message}`
}

function asJson(level: keyof typeof LEVELS, about: object, message: string): string {
  const base = { level: LEVELS[level], time: Date.now(), pid: process.pid, hostname: hostname() }
  const asTold = (_key: string, value: unknown): unknown => (value instanceof Error ? told(value) : value)
  return JSON.stringify({ ...base, ...about, msg: message }, asTold)
}

/** An error in one line; with its stack where `NODE_DEBUG=clustered-server` asks for it. */
function told({ name, message, stack }: Error): object {
  if (debuglog('clustered-server').enabled) return { type: name, message, stack }
  return { type: name, message: message.split('\n', 1)[0] }
}
