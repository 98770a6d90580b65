import { stripVTControlCharacters } from 'node:util'
import { expect, it } from 'vitest'
import { loadToMarkdown, loadToTerminal } from '../../../src/report/load-tables.ts'
import { phase, recordedLoad } from '../../helpers/recorded-load.ts'

const linesOf = (report = recordedLoad(), columns?: number): string[] =>
  stripVTControlCharacters(loadToTerminal(report, columns === undefined ? {} : { columns })).split('\n')

it('shows a rate with its latency and cost', () => {
  expect(linesOf()).toEqual([
    'GET / of node server.ts',
    ' load   intended/s   responses/s        p50        p90       p99       max   CPU/request   memory   limited by',
    ' 50%         2,000         2,000   0.512 ms   0.900 ms   2.34 ms   12.5 ms       34.5 µs    80 MB   -',
    'The ceiling is 4,000 requests/s, with 64 connections.',
    'http1, open loop, up to 1000 connections, 10 s of load.',
    'AMD EPYC, 2 cores, Linux 6.18, Node v24.21.0.',
  ])
})

it('shows the stages of users and all of them, without an intended rate', () => {
  const stages = {
    kind: 'users',
    connections: null,
    keepAlive: true,
    pause: 0,
    warmUp: 0,
    requestTimeout: 1000,
  } as const
  const [, head, stage, total, method] = linesOf(
    recordedLoad({
      load: stages,
      ceiling: null,
      phases: [{ ...phase, load: '0 to 50 users', rate: null }],
      total: { ...phase, load: 'all stages', rate: null, limitedBy: 'server' },
    }),
  )
  expect(head).toMatch(/^ load +responses\/s/)
  expect(stage).toMatch(/^ 0 to 50 users +2,000 .* -$/)
  expect(total).toMatch(/^ all stages +2,000 .* server$/)
  expect(method).toMatch(/^http1, closed loop, one connection per user/)
})

it('tells failures, and a generator that sent requests late', () => {
  const failures = { errors: 3, timeouts: 2, unexpectedStatus: 1, message: 'read ECONNRESET' }
  const late = { ...phase, failures, responses: 594, generator: { ...phase.generator, lateness: 7.5 } }
  const lines = linesOf(recordedLoad({ phases: [late] }))
  expect(lines).toContain(
    'At 50%, 6 requests failed (1 %): 3 errors, 2 timeouts, 1 response with another status. read ECONNRESET',
  )
  expect(lines).toContain('At 50%, the generator sent 1 % of requests at least 7.50 ms late: it needs more CPU.')
})

it('tells that the generator, and not the server, limits the ceiling', () => {
  const lines = linesOf(recordedLoad({ ceiling: { rate: 40_000, users: 64, limitedBy: 'generator' } }))
  expect(lines).toContain(
    'The ceiling is 40,000 requests/s, with 64 connections. The generator limits it: the server can do more.',
  )
})

it('has dashes for a phase without responses, and for a server that it did not start', () => {
  const [, , row] = linesOf(recordedLoad({ phases: [{ ...phase, latency: null, server: null, throughput: 0 }] }))
  expect(row).toMatch(/^ 50% +2,000 +0( +-){7}$/)
})

it.each([40, 60, 80])('has no line longer than a terminal of %d columns', (columns) => {
  const long = recordedLoad({ subject: `node ${'x'.repeat(200)}`, phases: [{ ...phase, load: `${'9'.repeat(60)}/s` }] })
  for (const line of linesOf(long, columns)) expect(line.length).toBeLessThanOrEqual(columns)
})

it('has the same table as Markdown, in which paths are text', () => {
  const text = loadToMarkdown(recordedLoad({ request: { protocol: 'websocket', method: 'GET', path: '/<b>|' } }))
  expect(text).toContain('### WebSocket /&lt;b&gt;\\| of node server.ts')
  expect(text).toMatch(/\| load \| intended\/s \| responses\/s \|/)
  expect(text).toContain(' 34.5 µs |')
})
