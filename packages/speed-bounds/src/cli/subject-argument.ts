import { existsSync } from 'node:fs'
import { basename, extname } from 'node:path'
import { parseArgsStringToArgv } from 'string-argv'
import { errorCodes } from '../errors.ts'
import type { Subject } from '../options/types.ts'

const SCRIPT = /\.[cm]?[jt]s$/
const QUOTED = /"[^"]*"|'[^']*'/g

/** The subjects of the command line by their name. */
export function parseSubjects(texts: readonly string[]): Record<string, Subject> {
  const subjects = texts.map(parseSubject)
  const names = subjects.map(([name]) => name)
  const twice = names.find((name, index) => names.indexOf(name) < index)
  if (twice !== undefined) {
    throw new errorCodes.SPEED_BOUNDS_INVALID_OPTION(
      `Invalid subjects: expected different names, got "${twice}" twice. Name one of them, as in other=server.js.`,
    )
  }
  return Object.fromEntries(subjects)
}

/** A subject on the command line: `server.ts`, `name=server.ts` or `name=./server --port {port}`. */
export function parseSubject(text: string): [name: string, Subject] {
  const [, name, rest = ''] = existsSync(text) ? [text, undefined, text] : (/^(?:([\w.-]+)=)?(.*)$/s.exec(text) ?? [])
  if (existsSync(rest)) return [name ?? basename(rest, extname(rest)), rest]
  if (/["']/.test(rest.replaceAll(QUOTED, ''))) {
    throw new errorCodes.SPEED_BOUNDS_INVALID_OPTION(
      `Invalid subject: expected closed quotes, got ${JSON.stringify(text)}.`,
    )
  }
  const [command, ...args] = parseArgsStringToArgv(rest)
  if (command === undefined || (args.length === 0 && (name === undefined || SCRIPT.test(command)))) {
    throw new errorCodes.SPEED_BOUNDS_INVALID_OPTION(
      `Invalid subject: expected a file that exists or a command line, got "${text}".`,
    )
  }
  return [name ?? basename(command), { command: [command, ...args] }]
}
