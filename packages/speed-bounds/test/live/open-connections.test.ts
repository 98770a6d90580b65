import { mkdtempSync, readdirSync, readFileSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, beforeEach, expect, it } from 'vitest'
import { race } from '../../src/index.ts'
import { MEASUREMENT, server, SMALL } from '../helpers/servers.ts'

const folder = mkdtempSync(join(tmpdir(), 'speed-bounds-connections-'))
afterAll(() => rmSync(folder, { recursive: true }))

/** Writes the number of connections that it has accepted into a file when it ends. */
const counting = server(
  `response.end('ok')`,
  `
import { writeFileSync } from 'node:fs'
let connections = 0
server.on('connection', () => connections++)
process.prependListener('SIGTERM', () => writeFileSync(${JSON.stringify(folder)} + '/' + process.pid, String(connections)))
`,
)

const files = (): string[] => readdirSync(folder).map((file) => join(folder, file))
beforeEach(() => files().forEach((file) => rmSync(file)))

const { path: _, ...small } = SMALL
const options = {
  ...small,
  connections: 10,
  measurement: { ...MEASUREMENT, turn: SMALL.duration, cycles: 4 },
}

it.each([
  ['of one case', { one: { path: '/' } }, 10],
  ['of two cases', { one: { path: '/' }, two: { path: '/two' } }, 20],
])('measures all rounds of a process over the connections of its warm-up: %s', async (_title, cases, connections) => {
  await race({ one: counting, other: counting }, { ...options, cases }).measure()
  const accepted = files().map((file) => Number(readFileSync(file, 'utf8')))
  expect(accepted).toHaveLength(4)
  // The others are those of the first request, and of the comparison of responses.
  const compared = connections / options.connections
  for (const count of accepted) expect(count).toBe(connections + 1 + compared)
})

it('opens new connections for each round if they would be too many', async () => {
  const cases = { one: { path: '/' }, two: { path: '/two' } }
  await race(
    { one: counting, other: counting },
    { ...options, cases, connections: 201, measurement: { ...options.measurement, cycles: 2 } },
  ).measure()
  for (const file of files()) expect(Number(readFileSync(file, 'utf8'))).toBeGreaterThan(2 * 2 * 201)
})

it('has load before a round whose connections the server has closed meanwhile', async () => {
  const impatient = server(`response.end('ok')`, 'server.keepAliveTimeout = 150; server.keepAliveTimeoutBuffer = 0')
  const started = performance.now()
  const { rounds } = await race(
    { one: impatient, other: impatient },
    { ...options, cases: { one: { path: '/' } } },
  ).measure()
  expect(rounds).toHaveLength(16)
  expect(rounds.map(({ failures }) => failures)).toEqual(rounds.map(() => 0))
  // Each round has a lead of three times its length, but the first one.
  expect(performance.now() - started).toBeGreaterThan(12 * 4 * SMALL.duration)
})

it('warms processes in turns, so that none waits for the others', async () => {
  const waits = mkdtempSync(join(tmpdir(), 'speed-bounds-waits-'))
  // Writes the time from its first request to its last, and its longest wait in between.
  const waiting = server(
    `const now = performance.now(); longest = Math.max(longest, now - last); last = now; response.end('ok')`,
    `
import { writeFileSync } from 'node:fs'
let longest = 0
let last = performance.now()
const first = last
process.prependListener('SIGTERM', () =>
  writeFileSync(${JSON.stringify(waits)} + '/' + process.pid, JSON.stringify([last - first, longest])))
`,
  )
  const measurement = { ...MEASUREMENT, cycles: 1, minWarmUp: 1000, maxWarmUp: 1000 }
  await race({ one: waiting, other: waiting }, { ...options, path: '/', measurement }).measure()
  const told = readdirSync(waits).map((file) => JSON.parse(readFileSync(join(waits, file), 'utf8')) as [number, number])
  rmSync(waits, { recursive: true })
  expect(told).toHaveLength(4)
  // One after the other, the first one would wait for three quarters of the time.
  for (const [time, longest] of told) expect(longest).toBeLessThan(time / 2)
})
