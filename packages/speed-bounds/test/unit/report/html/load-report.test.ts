import { describe, expect, it } from 'vitest'
import { type LoadReport, toHtml } from '../../../../src/index.ts'
import { repeatLoadCommand } from '../../../../src/report/html/repeat-command.ts'
import { ACTIVE, describesPlots, EVIL, MAX_SIZE, renamed, titlesOf } from '../../../helpers/html-report.ts'
import { measuredLoad, phase, recordedLoad } from '../../../helpers/recorded-load.ts'

const report = measuredLoad()
const page = toHtml(report)

const STAGES: Partial<LoadReport> = {
  load: { kind: 'users', connections: null, keepAlive: true, pause: 2, warmUp: 2000, requestTimeout: 10_000 },
  ceiling: null,
  phases: [
    { ...phase, load: '0 to 50 users', rate: null, duration: 1000 },
    { ...phase, load: '50 users', rate: null, duration: 333.5 },
    { ...phase, load: '10 to 0 users', rate: null, duration: 500 },
  ],
  total: { ...phase, load: 'all stages', rate: null },
}

describe('the report of a load', () => {
  it('loads nothing and runs nothing', () => expect(page).not.toMatch(ACTIVE))

  it('has its parts', () => {
    expect(titlesOf(page)).toEqual([
      ...['Rate', 'Measurements', 'Latency by percentile', 'Latency by share of the ceiling'],
      ...['CPU per request by share of the ceiling', 'Bottleneck', 'Failed requests', 'Conditions', 'Repeat it'],
    ])
  })

  it('has a card for the ceiling and for each load', () => {
    expect(page.match(/<article class="card/g)).toHaveLength(1 + report.phases.length)
    expect(page).toContain('7,073/s')
  })

  it('has the rate that was asked for beside the one that was reached', () => {
    expect(page).toContain('aria-label="75%: 3,918 responses/s, 74 % of 5,304"')
    // The plan of a ramp is its mean.
    expect(page).toContain('aria-label="10% to 130%: 4,650 responses/s, 94 % of 4,951"')
  })

  it('has CPU per request by the share of the ceiling, without ramps', () => {
    expect(page).toMatch(/aria-label="CPU per request: 107 µs at 10 %, 90\.9 µs at 25 %, [^"]* 70\.4 µs at 90 %"/)
  })

  it('tells that the generator sent requests late', () => {
    expect(page).toContain(
      'At 6 of 6 loads, the generator sent requests late: at worst, 1 % of them by 113 ms or\nmore.',
    )
    expect(toHtml(recordedLoad())).not.toContain('sent requests late')
    expect(toHtml(recordedLoad())).toContain('<td>below 0.1 ms</td>')
  })

  it('describes each plot in words', () => describesPlots(page, 8))

  it('tells failed requests by kind', () => {
    const failures = { errors: 3, timeouts: 2, unexpectedStatus: 1, message: 'read ECONNRESET' }
    const failed = toHtml(recordedLoad({ phases: [{ ...phase, failures, responses: 594 }] }))
    expect(failed).toContain('<article class="card worse">')
    expect(failed).toContain('1 % of requests failed')
    expect(failed).toMatch(/<td>1 %<\/td><td>3<\/td><td>2<\/td><td>1<\/td><td>read ECONNRESET<\/td>/)
    expect(page).toContain('No request failed.')
  })

  it('tells a ceiling that is one of the generator', () => {
    const ceiling = { rate: 4000, users: 64, limitedBy: 'generator' } as const
    expect(toHtml(recordedLoad({ ceiling }))).toContain('ceiling of the generator')
  })

  it('has the stages of users, and all of them', () => {
    const users = toHtml(recordedLoad(STAGES))
    expect(titlesOf(users)).not.toContain('Latency by rate')
    expect(users).toContain('<th scope="row">all stages</th>')
    expect(users).not.toContain('intended/s')
  })

  it('tells loads with the same name apart', () => {
    const twice = toHtml(recordedLoad({ phases: [phase, phase] }))
    expect(twice).toContain('<th scope="row">50% (2)</th>')
    expect(twice).toContain('<li class="s1">50% (2)</li>')
  })

  it('gives names, paths and errors no meaning', () => {
    const failures = { errors: 1, timeouts: 0, unexpectedStatus: 0, message: 'x' }
    const evil = toHtml(renamed(recordedLoad({ phases: [{ ...phase, failures }] })))
    expect(evil).toContain(EVIL)
    expect(evil).not.toMatch(/<script|<img/)
  })

  it('stays below 300 kB with 500 loads, and shows the first and the last one', () => {
    const phases = Array.from({ length: 500 }, (_, index) => ({
      ...report.phases[0]!,
      load: `${index + 1}/s`,
      rate: { from: index + 1, to: index + 1 },
      failures: { errors: 1, timeouts: 0, unexpectedStatus: 0, message: 'x'.repeat(300) },
    }))
    const big = toHtml({ ...report, phases })
    expect(big.length).toBeLessThan(MAX_SIZE)
    expect(big).toContain('440 more loads are left out')
    expect(big.match(/<article class="card/g)).toHaveLength(9)
    expect(big).toMatch(/<li class="s0">1\/s<\/li>[^]*<li class="s7">500\/s<\/li>/)
  })
})

it.each<[string, Partial<LoadReport>]>([
  ['without responses', { phases: [{ ...phase, responses: 0, throughput: 0, latency: null }] }],
  ['of a running server', { subject: 'http://127.0.0.1:3000', phases: [{ ...phase, server: null }, phase] }],
  ['without a ceiling', { ceiling: null, phases: [phase, { ...phase, rate: { from: 1, to: 1 } }] }],
  ['with a ceiling of 0', { ceiling: { rate: 0, users: 0, limitedBy: 'latency' }, phases: [phase, phase] }],
  ['with a ramp from 0', { phases: [{ ...phase, load: '0/s to 100/s', rate: { from: 0, to: 100 } }] }],
  [
    'with latencies of 0',
    { phases: [{ ...phase, latency: { ...phase.latency!, p50: 0, p90: 0, p99: 0, max: 0, percentiles: [[50, 0]] } }] },
  ],
  ['with a single response', { phases: [{ ...phase, latency: { ...phase.latency!, percentiles: [[100, 3]] } }] }],
  ['of stages', STAGES],
])('draws a load %s', (_, part) => {
  expect(toHtml(recordedLoad(part)).replace(/<style>[^]*<\/style>/, '')).not.toMatch(/NaN|undefined|Infinity|null/)
})

describe('the command that repeats a load', () => {
  it('has the rates, and the flags that are not the default', () => {
    expect(repeatLoadCommand(report)).toBe(
      'npx speed-bounds load server.mjs --rate 10%,25%,50%,75%,90%,10%..130% --duration 3000ms',
    )
    const phases = ['2000/s', '0/s to 500/s'].map((load) => ({ ...phase, load }))
    const other = repeatLoadCommand(
      recordedLoad({
        ...{ subject: './go --listen {host}:{port}', phases },
        request: { protocol: 'http2', method: 'POST', path: '/items?n=1&m=2' },
        load: { kind: 'rate', connections: 10, keepAlive: false, pause: null, warmUp: 0, requestTimeout: 500 },
      }),
    )
    expect(other).toBe(
      "npx speed-bounds load 'server=./go --listen {host}:{port}' --rate 2000,0..500 --connections 10 --protocol http2" +
        " --path '/items?n=1&m=2' --method POST --warm-up 0ms --request-timeout 500ms --no-keep-alive",
    )
  })

  it('has the stages, with one of no length where the number of users jumps', () => {
    expect(repeatLoadCommand(recordedLoad({ ...STAGES, subject: 'http://127.0.0.1:3000' }))).toBe(
      'npx speed-bounds load http://127.0.0.1:3000 --stages 1000ms:50,333.5ms:50,0ms:10,500ms:0 --pause 2ms',
    )
  })

  it('is short for the defaults', () => {
    const phases = ['10%', '50%', '90%'].map((load) => ({ ...phase, load }))
    expect(repeatLoadCommand(recordedLoad({ phases }))).toBe('npx speed-bounds load server.ts')
  })
})
