import { mkdtempSync, readdirSync, readFileSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, expect, it } from 'vitest'
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

it('measures all rounds of a process over the connections of its warm-up', async () => {
  await race(
    { one: counting, other: counting },
    { ...SMALL, connections: 10, measurement: { ...MEASUREMENT, turn: SMALL.duration, cycles: 4 } },
  ).measure()
  const accepted = readdirSync(folder).map((file) => Number(readFileSync(join(folder, file), 'utf8')))
  expect(accepted).toHaveLength(4)
  // Two more are those of the first request, and of the comparison of responses.
  for (const count of accepted) expect(count).toBe(12)
})
