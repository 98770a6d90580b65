import { mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll } from 'vitest'
import type { FileSubject } from '../../src/options/types.ts'

const folder = mkdtempSync(join(tmpdir(), 'speed-bounds-live-'))
afterAll(() => rmSync(folder, { recursive: true }))
let written = 0

/** Writes a script and makes a subject of it. */
export function script(source: string): FileSubject {
  const file = join(folder, `server-${written++}.mjs`)
  writeFileSync(file, source)
  return { file }
}

/** A node:http server with this handler. */
export function server(handler: string, rest = ''): FileSubject {
  return script(`
import { createServer } from 'node:http'
let requests = 0
const server = createServer((request, response) => {
  requests++
  ${handler}
})
server.listen(process.env.PORT, process.env.HOST)
process.on('SIGTERM', () => process.exit(0))
${rest}`)
}

/** Code that takes this many microseconds of CPU. */
export const spin = (microseconds: number): string =>
  `for (const end = process.hrtime.bigint() + ${microseconds * 1000}n; process.hrtime.bigint() < end; );`

export const ok: FileSubject = server(`response.end('ok')`)
export const slow: FileSubject = server(`${spin(150)} response.end('ok')`)
/** So much slower that three processes show it on any machine. */
export const muchSlower: FileSubject = server(`${spin(2000)} response.end('ok')`)

/** Small enough for a test. Other programs of the machine do not matter. */
export const MEASUREMENT = { maxWarmUp: 100, cycles: 1, turn: 50, maxForeignCpu: 64 } as const

/** Options of a short race. */
export const SMALL = {
  path: '/',
  replicas: 2,
  duration: 100,
  stopTimeout: 500,
  measurement: MEASUREMENT,
} as const

/** Linux: processes with a word in their command line. */
export function processesWith(word: string): number[] {
  return readdirSync('/proc')
    .filter((name) => /^\d+$/.test(name))
    .filter((pid) => {
      try {
        return readFileSync(`/proc/${pid}/cmdline`, 'utf8').includes(word)
      } catch {
        return false
      }
    })
    .map(Number)
}

/** A word in the path of this test run's scripts. */
export const scripts: string = folder
