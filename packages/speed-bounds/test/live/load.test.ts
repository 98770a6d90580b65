import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { mkdtempSync, readFileSync, rmSync } from 'node:fs'
import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { afterAll, describe, expect, it } from 'vitest'
import { listTree } from '../../src/platform/process-tree.ts'
import { errorCodes, load, type LoadReport } from '../../src/index.ts'
import { schemaErrors } from '../helpers/schema-errors.ts'
import { ok, processesWith, script, scripts, server, spin } from '../helpers/servers.ts'

const cli = fileURLToPath(new URL('../../src/cli/main.ts', import.meta.url))
const folder = mkdtempSync(join(tmpdir(), 'speed-bounds-load-'))
afterAll(() => rmSync(folder, { recursive: true }))

const record = join(folder, 'stalls')

/**
 * Blocks its event loop for 200 ms, every 2 s. A block needs no CPU. On a busy machine it may begin or end late, so the
 * server records the time of each, from its begin until it handles requests again.
 */
const stalling = server(
  `response.end('ok')`,
  `
import { appendFileSync } from 'node:fs'
const cell = new Int32Array(new SharedArrayBuffer(4))
const clock = () => performance.timeOrigin + performance.now()
const start = performance.now()
let number = 0
const stall = () => {
  const from = clock()
  Atomics.wait(cell, 0, 0, 200)
  number++
  setTimeout(stall, start + number * 2000 - performance.now())
  setImmediate(() => appendFileSync(${JSON.stringify(record)}, from + ' ' + clock() + '\\n'))
}
setTimeout(stall, 0)`,
)

/** The p99 of requests that come evenly for 10 s from a time on, and wait until the end of the recorded stalls. */
function analyticP99(begin: number): number {
  const stalls = readFileSync(record, 'utf8')
    .trimEnd()
    .split('\n')
    .map((line) => line.split(' ').map(Number) as [from: number, to: number])
  const waits = Array.from({ length: 10_000 }, (_, millisecond) => {
    const time = begin + millisecond
    const stall = stalls.find(([from, to]) => from <= time && time < to)
    return stall ? stall[1] - time : 0
  })
  return waits.toSorted((one, other) => one - other)[9900]!
}

const durations = join(folder, 'durations')

/**
 * Responds 50 ms after it has read a request. A timer is up to 2 ms late, so the rest of the time is polled. On a busy
 * machine that may end late, so the server records how long each response took.
 */
const constant = server(
  `
  const begin = performance.now()
  const poll = () => {
    if (performance.now() < begin + 50) return setImmediate(poll)
    response.end('ok')
    appendFileSync(${JSON.stringify(durations)}, performance.now() - begin + '\\n')
  }
  setTimeout(poll, 47)`,
  `import { appendFileSync } from 'node:fs'`,
)

// Requests come evenly, so the share (200 - x) / 2000 of them waits for longer than x ms. A share of 1 % waits for longer
// than 180 ms. The load lasts for five whole periods, so that it does not matter at which point of a period it begins. At
// 199.7 requests per second, the first request of a stall comes 0 to 5 ms after its begin, each time at another point. At
// 200, all five come at the same point, and the p99 is 175 to 180 ms.
// A busy machine makes stalls longer and the generator late. Both are recorded, and next to nothing on a quiet one.
it('measures the p99 of a server that stalls 200 ms every 2 s: 180 ms, within 2 %', async () => {
  let begin = 0
  const { phases } = await load(stalling, {
    rate: 199.7,
    duration: 10_000,
    warmUp: 500,
    onProgress: ({ step }) => step === 'measuring' && void (begin = performance.timeOrigin + performance.now()),
  })
  const { latency, responses, failures, generator } = phases[0]!
  expect(responses).toBe(1997)
  expect(failures).toEqual({ errors: 0, timeouts: 0, unexpectedStatus: 0 })
  const expected = analyticP99(begin)
  expect(expected).toBeGreaterThan(180 * 0.98)
  expect(latency!.p99).toBeGreaterThan(expected * 0.98)
  expect(latency!.p99).toBeLessThan(expected * 1.02 + generator.lateness)
})

it('measures the p50 of a server that takes 50 ms: 50 ms, within 1 ms', async () => {
  const { phases } = await load(constant, { rate: 50, duration: 3000, warmUp: 500 })
  const { latency, responses, generator } = phases[0]!
  expect(responses).toBe(150)
  const recorded = readFileSync(durations, 'utf8').trimEnd().split('\n').slice(-150).map(Number)
  const expected = recorded.toSorted((one, other) => one - other)[75]!
  expect(expected).toBeGreaterThanOrEqual(50)
  expect(latency!.p50).toBeGreaterThan(expected - 1)
  expect(latency!.p50).toBeLessThan(expected + 1 + generator.lateness)
})

it('measures CPU per request at shares of the ceiling', async () => {
  const costly = server(`${spin(2000)} response.end('ok')`)
  const rate = ['10%', '50%', { from: '10%', to: '50%' }] as const
  const steps: string[] = []
  const { ceiling, phases } = await load(costly, {
    rate,
    duration: 1000,
    warmUp: 300,
    onProgress: ({ step }) => steps.push(step),
  })
  expect(steps.slice(0, 3)).toEqual(['starting', 'warming', 'finding the ceiling'])
  expect(steps.slice(-3)).toEqual(['measuring', 'measuring', 'measuring'])
  // 2 ms of CPU for each request allow for 500 of them, on a core of its own.
  expect(ceiling!.rate).toBeLessThan(500)
  expect(phases.map((phase) => phase.load)).toEqual(['10%', '50%', '10% to 50%'])
  expect(phases[0]!.rate!.from).toBeCloseTo(ceiling!.rate / 10, 6)
  expect(phases[1]!.rate!.from).toBeCloseTo(ceiling!.rate / 2, 6)
  for (const { server: use, latency } of phases) {
    expect(use!.cpu).toBeGreaterThan(1000)
    expect(use!.rss).toBeGreaterThan(1e6)
    expect(latency!.p50).toBeGreaterThan(2)
  }
})

it('runs stages of virtual users in scaled time, with figures for each stage and for all of them', async () => {
  const slow = server(`setTimeout(() => response.end('ok'), 20)`)
  const {
    phases,
    total,
    load: method,
  } = await load(slow, {
    stages: [
      { users: 10, duration: 10_000 },
      { users: 10, duration: 10_000 },
      { users: 0, duration: 10_000 },
    ],
    timeScale: 0.05,
    warmUp: 200,
  })
  expect(method).toMatchObject({ kind: 'users', connections: null })
  expect(phases.map((phase) => phase.load)).toEqual(['0 to 10 users', '10 users', '10 to 0 users'])
  expect(phases.map(({ duration }) => duration)).toEqual([500, 500, 500])
  expect(total!.responses).toBe(phases.reduce((sum, { responses }) => sum + responses, 0))
  expect(total!.generator.connections).toBe(10)
  // No user has more than one request at a time, which takes at least 20 ms.
  expect(phases[1]!.responses).toBeLessThanOrEqual(10 * 26)
  expect(total!.latency!.p50).toBeGreaterThanOrEqual(19)
  expect(phases[1]!.server!.cpu).toBeGreaterThan(0)
})

const http2 = script(`
import { createServer } from 'node:http2'
const server = createServer((request, response) => response.end('ok'))
server.listen(process.env.PORT, process.env.HOST)
process.on('SIGTERM', () => process.exit(0))`)

const echo = script(`
import { createServer } from 'node:http'
import { WebSocketServer } from '${import.meta.resolve('ws').replace(/ws\/[^/]*$/, 'ws/wrapper.mjs')}'
const server = createServer()
new WebSocketServer({ server }).on('connection', (socket) => socket.on('message', (data) => socket.send(data)))
server.listen(process.env.PORT, process.env.HOST)
process.on('SIGTERM', () => process.exit(0))`)

it.each([
  ['http2', http2, 1],
  ['websocket', echo, 50],
] as const)('puts a server under load over %s', async (protocol, subject, most) => {
  const { phases, request } = await load(subject, { protocol, rate: 100, duration: 1000, warmUp: 200 })
  expect(request.protocol).toBe(protocol)
  const { responses, failures, generator, server: use } = phases[0]!
  expect(failures).toEqual({ errors: 0, timeouts: 0, unexpectedStatus: 0 })
  expect(responses).toBe(100)
  expect(generator.connections).toBeGreaterThanOrEqual(1)
  expect(generator.connections).toBeLessThanOrEqual(most)
  expect(use!.cpu).toBeGreaterThan(0)
})

it('puts a running server under load, without its CPU', async () => {
  let requests = 0
  const running = createServer((request, response) =>
    response.writeHead(request.url === '/x' ? 201 : 404).end(`${++requests}`),
  )
  await new Promise<void>((resolve) => running.listen(0, '127.0.0.1', resolve))
  const origin = `http://127.0.0.1:${(running.address() as AddressInfo).port}`
  const { phases, subject } = await load(origin, { path: '/x', status: 201, rate: 50, duration: 400, warmUp: 0 })
  running.close()
  running.closeAllConnections()
  expect(subject).toBe(origin)
  expect(phases[0]).toMatchObject({ responses: 20, server: null })
  expect(requests).toBe(21)
})

describe('failures', () => {
  it('counts failed requests by their kind, and not as responses', async () => {
    const failing = server(`
      if (requests <= 2 || requests % 4 === 1) response.end('ok')
      else if (requests % 4 === 2) response.writeHead(500).end('no')
      else if (requests % 4 === 3) request.socket.destroy()`)
    // The first two requests check that it is ready and responds rightly.
    const { phases } = await load(failing, {
      rate: 40,
      duration: 1000,
      warmUp: 0,
      requestTimeout: 1500,
      keepAlive: false,
      status: 200,
    })
    const { failures, responses, throughput } = phases[0]!
    // The wait for the last timeout is no part of the rate: with it, that would be 4 responses per second.
    expect(throughput).toBeGreaterThan(5)
    expect(failures).toMatchObject({ unexpectedStatus: 10, timeouts: 10, errors: 10 })
    expect(failures.message).toBe('The connection was closed before the response ended.')
    expect(responses).toBe(10)
  })

  it('rejects a subject that responds with another status', async () => {
    const error: Error = await load(server(`response.writeHead(404).end('no')`), { rate: 10 }).catch((reason) => reason)
    expect(error).toBeInstanceOf(errorCodes.SPEED_BOUNDS_WRONG_RESPONSE)
    expect(error.message).toMatch(
      /^GET \/ of node .* has status 404, expected a 2xx. If that is right, set status: 404.$/,
    )
  })

  it('rejects a subject that speaks another protocol', async () => {
    const error: Error = await load(ok, { protocol: 'http2', startTimeout: 1000 }).catch((reason) => reason)
    expect(error).toBeInstanceOf(errorCodes.SPEED_BOUNDS_SUBJECT_NOT_READY)
    expect(error.message).toMatch(/A subject must listen on HOST and PORT .*, and speak HTTP\/2 without TLS\.\n/)
  })

  it('rejects a subject that dies under load, with its stderr', async () => {
    const dying = server(`if (requests > 20) { console.error('out of luck'); process.exit(7) } response.end('ok')`)
    const error: Error = await load(dying, { rate: 100, duration: 5000, warmUp: 0 }).catch((reason) => reason)
    expect(error).toBeInstanceOf(errorCodes.SPEED_BOUNDS_SUBJECT_DIED)
    expect(error.message).toMatch(/ended with code 7|out of luck/)
  })

  it('rejects a running server that is not there', async () => {
    const error: Error = await load('http://127.0.0.1:9', { rate: 10 }).catch((reason) => reason)
    expect(error).toBeInstanceOf(errorCodes.SPEED_BOUNDS_WRONG_RESPONSE)
    expect(error.message).toMatch(/^GET \/ of http:\/\/127.0.0.1:9 gets no response over http1: .*ECONNREFUSED/)
  })

  it('rejects if the process of its generator is killed', async () => {
    const kill = async (): Promise<void> => {
      const own = new Set(await listTree(process.pid))
      for (const pid of processesWith('load-process')) if (own.has(pid)) process.kill(pid, 'SIGKILL')
    }
    const error: Error = await load(ok, {
      rate: 10,
      duration: 60_000,
      warmUp: 0,
      onProgress: ({ step }) => step === 'measuring' && void kill(),
    }).catch((reason) => reason)
    expect(error).toBeInstanceOf(errorCodes.SPEED_BOUNDS_GENERATOR_FAILED)
    expect(error.message).toBe("The generator's process ended unexpectedly (SIGKILL).")
    expect(processesWith(scripts)).toEqual([])
  })

  it('ends with its signal, and leaves no process behind', async () => {
    const controller = new AbortController()
    const reason = new Error('enough')
    const loaded = load(ok, {
      rate: 10,
      duration: 60_000,
      warmUp: 0,
      signal: controller.signal,
      onProgress: ({ step }) => step === 'measuring' && controller.abort(reason),
    })
    await expect(loaded).rejects.toBe(reason)
    expect(processesWith(scripts)).toEqual([])
  })
})

describe('the command', () => {
  async function run(...args: string[]): Promise<{ code: number | null; stdout: string; stderr: string }> {
    const child = spawn(process.execPath, [cli, ...args], { stdio: ['ignore', 'pipe', 'pipe'] })
    const output = { stdout: '', stderr: '' }
    child.stdout.on('data', (text: Buffer) => (output.stdout += text.toString()))
    child.stderr.on('data', (text: Buffer) => (output.stderr += text.toString()))
    const [code] = (await once(child, 'close')) as [number | null]
    return { code, ...output }
  }

  it('prints a table, writes the report, and shows it again', async () => {
    const [json, markdown, html, csv] = ['json', 'md', 'html', 'csv'].map((type) => join(folder, `load.${type}`)) as [
      ...[string, string, string, string],
    ]
    const { code, stdout, stderr } = await run(
      ...['load', String(ok.file), '--rate', '100,50..150', '--duration', '500ms', '--warm-up', '100ms'],
      ...['--json', json, '--markdown', markdown, '--html', html, '--csv', csv],
    )
    expect(stderr).toMatch(
      /^starting: .*\nwarming: 100\/s for 0.1 s\nmeasuring: 100\/s for 0.5 s\nmeasuring: 50\/s to 150\/s/,
    )
    expect(code).toBe(0)
    expect(stdout).toMatch(/^GET \/ of node .*\n load +intended\/s +responses\/s +p50 +p90 +p99 +max +CPU\/request/)
    const report = JSON.parse(readFileSync(json, 'utf8')) as LoadReport
    expect(report.phases.map(({ responses }) => responses)).toEqual([50, 50])
    const again = await run('report', json)
    expect(again.stdout).toBe(stdout)
    expect(readFileSync(markdown, 'utf8')).toMatch(/\| load +\| +intended\/s \|/)
    expect(schemaErrors('load', report)).toEqual([])
    const page = readFileSync(html, 'utf8')
    expect(page).toContain('<h4>Latency by percentile</h4>')
    expect(await run('report', json, '--format', 'html')).toMatchObject({ code: 0, stdout: `${page.trimEnd()}\n` })
    expect(readFileSync(csv, 'utf8').split('\n')).toHaveLength(4)
    const service = await run('report', json, '--format', 'bencher')
    expect(service).toMatchObject({ code: 2, stdout: '' })
    expect(service.stderr).toBe(
      'SPEED_BOUNDS_INVALID_OPTION: Invalid format of a load: expected text, html, markdown or csv, got bencher.\n',
    )
  })

  it.each([
    [['--rate', 'fast'], /Expected rates such as 2000, 50% or 0\.\.2000/],
    [['--stages', '50'], /Expected stages such as 10s:50,20s:100/],
    [['--rate', '0'], /SPEED_BOUNDS_INVALID_OPTION: Invalid option "rate\[0\]": expected requests per second/],
    [['--rate', '5', '--stages', '1s:5'], /Invalid option "rate": expected either "stages" or "rate", got "both"\./],
  ])('explains wrong usage: %j', async (args, message) => {
    const { code, stderr } = await run('load', String(ok.file), ...args)
    expect(code).toBe(2)
    expect(stderr).toMatch(message)
    expect(stderr.trimEnd().split('\n')).toHaveLength(1)
  })

  it.each(['ws://127.0.0.1:9', 'https://127.0.0.1:9', 'http://127.0.0.1:9/path'])('expects no %s', async (url) => {
    const { code, stderr } = await run('load', url)
    expect({ code, stderr }).toEqual({
      code: 2,
      stderr: `SPEED_BOUNDS_INVALID_OPTION: Invalid option "subject": expected an http: URL without a path, which is the option "path", got "${url}".\n`,
    })
  })
})
