import { availableParallelism } from 'node:os'
import { expect, it } from 'vitest'
import { race, SpeedBoundsError, toMarkdown, toTerminal } from '../../src/index.ts'
import type { RaceOptions, Subject } from '../../src/index.ts'
import { MEASUREMENT, ok, processesWith, script, scripts, server, SMALL, spin } from '../helpers/servers.ts'

async function failureOf(subject: Subject, options: Partial<RaceOptions> = {}): Promise<SpeedBoundsError> {
  const error = await race({ ok, bad: subject }, { ...SMALL, ...options })
    .measure()
    .then(
      () => undefined,
      (reason: unknown) => reason,
    )
  expect(error).toBeInstanceOf(SpeedBoundsError)
  expect(processesWith(scripts)).toEqual([])
  return error as SpeedBoundsError
}

it('quotes the stderr of a subject that crashes at start', async () => {
  const { code, message } = await failureOf(script(`throw new Error('no database')`))
  expect(code).toBe('SPEED_BOUNDS_SUBJECT_NOT_STARTED')
  expect(message).toMatch(/^bad \(node .*\) ended with code 1\. It never responded at http:\/\/[\d.:]+\.\n/)
  expect(message).toContain('no database')
})

it('reports a script that does not exist, in one line', async () => {
  const { code, message } = await failureOf('./no-such-server.ts')
  expect(code).toBe('SPEED_BOUNDS_SUBJECT_NOT_STARTED')
  expect(message).toMatch(
    /^bad \(node no-such-server\.ts\) ended with code 1\. There is no file .*no-such-server\.ts\.$/,
  )
})

it('reports a program that does not exist', async () => {
  const { code, message } = await failureOf({ command: ['no-such-program'] })
  expect(code).toBe('SPEED_BOUNDS_SUBJECT_NOT_STARTED')
  expect(message).toContain('no-such-program ENOENT')
})

it('reports a subject that never listens, with its address and stderr', async () => {
  const { code, message } = await failureOf(script(`console.error('waiting for godot'); setInterval(() => {}, 1000)`), {
    startTimeout: 1500,
  })
  expect(code).toBe('SPEED_BOUNDS_SUBJECT_NOT_READY')
  expect(message).toMatch(/did not respond at http:\/\/127\.0\.0\.1:\d+ within 1500 ms/)
  expect(message).toContain('waiting for godot')
})

it('reports a subject that accepts connections and never responds', async () => {
  const { code } = await failureOf(server(''), { startTimeout: 1500 })
  expect(code).toBe('SPEED_BOUNDS_SUBJECT_NOT_READY')
})

it('reports a fixed port that a second process cannot use', async () => {
  const { code, message } = await failureOf(
    script(`
import { createServer } from 'node:http'
const listen = (port) => createServer((_, response) => response.end('ok')).listen(port, process.env.HOST)
listen(process.env.PORT)
listen(34127)`),
  )
  expect(code).toBe('SPEED_BOUNDS_PORT_TAKEN')
  expect(message).toMatch(/^bad \(.*\) ended with code 1\. Its port was in use, and PORT=\d+ was free: .*\n/)
  expect(message).toContain('EADDRINUSE')
})

it.skipIf(availableParallelism() === 1)('reports a fixed port without a wait for the process that has it', async () => {
  const began = performance.now()
  const { code } = await failureOf(
    script(`
import { createServer } from 'node:http'
createServer((_, response) => response.end('ok')).listen(34128, process.env.HOST)`),
    { startTimeout: 60_000 },
  )
  expect(code).toBe('SPEED_BOUNDS_PORT_TAKEN')
  expect(performance.now() - began).toBeLessThan(30_000)
})

it('reports a different response with a diff', async () => {
  const { code, message } = await failureOf(server(`response.setHeader('content-type', 'text/html').end('<p>ok')`))
  expect(code).toBe('SPEED_BOUNDS_WRONG_RESPONSE')
  expect(message).toContain("bad responds differently to case 'GET /' (GET /)")
  expect(message).toContain('-ok')
  expect(message).toContain('+<p>ok')
  expect(message).toContain('+content-type: text/html')
})

it('fails a subject whose status changes under load', async () => {
  const { code, message } = await failureOf(
    server(`response.statusCode = requests > 20 ? 503 : 200; response.end('ok')`),
  )
  expect(code).toBe('SPEED_BOUNDS_FAILED_REQUESTS')
  expect(message).toMatch(
    /0 connection errors, 0 timeouts, 0 connections without a response, [1-9]\d* responses with another status/,
  )
})

it('fails a subject that stops responding under load', async () => {
  const { code, message } = await failureOf(server(`if (requests <= 500) response.end('ok')`), { requestTimeout: 1000 })
  expect(code).toBe('SPEED_BOUNDS_FAILED_REQUESTS')
  expect(message).toMatch(/bad failed [1-9]\d* of \d+ requests/)
})

it('says that a round is too short for a subject whose responses take longer', async () => {
  const { code, message } = await failureOf(server(`setTimeout(() => response.end('ok'), 1500)`))
  expect(code).toBe('SPEED_BOUNDS_FAILED_REQUESTS')
  expect(message).toBe(
    `bad responded to no request of case 'GET /' in its round: increase "duration" and "measurement.turn" to more than a response takes.`,
  )
})

it('fails a subject that stops responding between two turns', async () => {
  const { code, message } = await failureOf(server(`if (process.uptime() < 5) response.end('ok')`), {
    measurement: { ...MEASUREMENT, cycles: 100 },
    requestTimeout: 1000,
  })
  expect(code).toBe('SPEED_BOUNDS_FAILED_REQUESTS')
  expect(message).toMatch(/bad failed [1-9]\d* of \d+ requests .*: 0 connection errors, [1-9]\d* timeouts/)
})

it('does not fail a subject that waits longer than requestTimeout for its turn', async () => {
  const { rounds } = await race(
    { ok, twin: ok },
    { ...SMALL, duration: 2400, requestTimeout: 1000, measurement: { ...MEASUREMENT, turn: 1200 } },
  ).measure()
  expect(rounds.map(({ failures }) => failures)).toEqual([0, 0, 0, 0])
})

it('waits for a subject that pauses longer than a round', async () => {
  const paused = server(`
    if (requests % 2000 === 0) {
      const end = Date.now() + 400
      while (Date.now() < end);
    }
    response.end('ok')`)
  const { rounds } = await race({ ok, paused }, SMALL).measure()
  expect(rounds.map(({ failures }) => failures)).toEqual(rounds.map(() => 0))
})

it('fails a subject with a few hanging connections', async () => {
  const { code, message } = await failureOf(
    // By time, because a fast machine would make all of them hang by number. At most five, because a busy machine needs
    // long to notice a hanging one.
    server(`
      const { socket } = request
      const hanging = (globalThis.hanging ??= new Set())
      const due = (globalThis.due ??= Date.now() + 400)
      if (Date.now() < due || hanging.size === 5) return response.end('ok')
      globalThis.due = due + 400
      hanging.add(socket)
      socket.once('close', () => hanging.delete(socket))`),
    {
      // Far longer than a connection may wait.
      duration: 1000,
    },
  )
  expect(code).toBe('SPEED_BOUNDS_FAILED_REQUESTS')
  expect(message).toMatch(/[1-9]\d* connections without a response/)
})

it('fails a subject that drops connections with pending requests', async () => {
  const { code } = await failureOf(
    server(`if (requests > 20 && requests % 10 === 0) request.socket.end(); else response.end('ok')`),
  )
  expect(code).toBe('SPEED_BOUNDS_FAILED_REQUESTS')
})

it('reports a subject that dies during a round, with exit code and stderr', async () => {
  const { code, message } = await failureOf(
    server(`if (requests > 500) { console.error('out of luck'); process.exit(7) } response.end('ok')`),
  )
  expect(code).toBe('SPEED_BOUNDS_SUBJECT_DIED')
  expect(message).toMatch(/bad \(node .*\) ended with code 7/)
  expect(message).toContain('out of luck')
})

it('measures a subject whose failures stay within maxErrorRate', async () => {
  const flaky = server(`response.statusCode = requests > 20 && requests % 50 === 0 ? 503 : 200; response.end('ok')`)
  const { rounds } = await race({ ok, flaky }, { ...SMALL, maxErrorRate: 0.05 }).measure()
  const failures = rounds
    .filter(({ subject }) => subject === 'flaky')
    .map(({ failures: count, responses }) => count / (count + responses))
  for (const share of failures) expect(share).toBeCloseTo(0.02, 2)
})

it.each([
  ['in turns', { duration: 200, measurement: { ...MEASUREMENT, turn: 100 } }],
  ['in whole rounds', { duration: 200, measurement: { ...MEASUREMENT, turn: 200 } }],
  ['with a fixed amount', { amount: 500 }],
])('measures the latency of a subject that closes each connection: %s', async (_, load) => {
  const closing = server(`response.shouldKeepAlive = requests <= 20; setTimeout(() => response.end('ok'), 20)`)
  const { rounds } = await race({ closing, twin: closing }, { ...SMALL, ...load, connections: 10 }).measure()
  for (const { failures, p50 } of rounds) {
    expect(failures).toBe(0)
    expect(p50).toBeGreaterThan(19)
    // Not the time since a request that was sent over the connection before.
    expect(p50).toBeLessThan(80)
  }
})

it('counts requests on connections that close without an announcement as lost, in turns and in whole rounds', async () => {
  const closing = server(
    `if (requests > 20) response.once('finish', () => request.socket.destroySoon()); response.end('ok')`,
  )
  for (const turn of [200, 100]) {
    // At the end of a turn, each connection may have a response whose loss nobody sees any more: few connections.
    const { rounds } = await race(
      { closing, twin: closing },
      { ...SMALL, connections: 4, duration: 200, maxErrorRate: 0.6, measurement: { ...MEASUREMENT, turn } },
    ).measure()
    for (const { failures, responses } of rounds) expect(failures / (failures + responses)).toBeCloseTo(0.5, 1)
  }
})

it('lists the failures of a subject within its own maxErrorRate', async () => {
  const flaky = server(`response.statusCode = requests > 20 && requests % 50 === 0 ? 503 : 200; response.end('ok')`)
  const result = await race({ ok, flaky }, { ...SMALL, maxErrorRate: { flaky: 0.05 } }).measure()
  expect(result.rounds.filter(({ failures }) => failures > 0).map(({ subject }) => subject)).toContain('flaky')
  for (const text of [toTerminal(result), toMarkdown(result)])
    expect(text).toMatch(/^flaky failed \d+ of \d+ requests of GET \/ \(\d(?:\.\d)? %\)\.$/m)
  expect(toMarkdown(result)).not.toContain('ok failed')
})

it('fails a subject when only another one has a maxErrorRate', async () => {
  const { code, message } = await failureOf(
    server(`response.statusCode = requests > 20 && requests % 50 === 0 ? 503 : 200; response.end('ok')`),
    { maxErrorRate: { ok: 0.05 } },
  )
  expect(code).toBe('SPEED_BOUNDS_FAILED_REQUESTS')
  expect(message).toContain('(maxErrorRate: 0)')
})

it('kills a subject that ignores SIGTERM, with all its processes', async () => {
  const stubborn = server(
    `response.end('ok')`,
    `process.on('SIGTERM', () => {}); process.removeAllListeners('SIGTERM'); process.on('SIGTERM', () => {})
     const { spawn } = await import('node:child_process')
     spawn(process.execPath, ['-e', 'process.on("SIGTERM", () => {}); setInterval(() => {}, 1000)', ${JSON.stringify(scripts)}], { stdio: 'ignore', detached: true }).unref()`,
  )
  await race({ ok, stubborn }, SMALL).measure()
  expect(processesWith(scripts)).toEqual([])
})

it('waits for a subject that starts slowly', async () => {
  const late = script(`
import { createServer } from 'node:http'
setTimeout(() => createServer((_, response) => response.end('ok')).listen(process.env.PORT, process.env.HOST), 700)
process.on('SIGTERM', () => process.exit(0))`)
  await expect(race({ ok, late }, SMALL).compareResponses()).resolves.toBeUndefined()
})

it('counts the CPU of child processes', async () => {
  // The parent hands each connection to one of its workers: all the work is in another process.
  const clustered = script(`
import cluster from 'node:cluster'
import { createServer } from 'node:http'
if (cluster.isPrimary) {
  cluster.fork()
  process.on('SIGTERM', () => process.exit(0))
} else {
  createServer((_, response) => { ${spin(100)} response.end('ok') }).listen(process.env.PORT, process.env.HOST)
}`)
  const { summaries } = await race({ ok, clustered }, SMALL).measure()
  expect(summaries.find(({ subject }) => subject === 'clustered')!.mean.cpu).toBeGreaterThan(100)
})

it('a failure ends the race, and later claims throw it again', async () => {
  // Each round of servers that keep running opens new connections, so it fails some rounds after its warm-up.
  const bad = server(`
    const known = (globalThis.known ??= new WeakSet())
    if (!known.has(request.socket)) globalThis.connections = (globalThis.connections ?? 0) + 1
    known.add(request.socket)
    response.statusCode = globalThis.connections > 35 ? 503 : 200
    response.end('ok')`)
  const match = race(
    { ok, bad },
    { ...SMALL, connections: 10, measurement: { ...MEASUREMENT, cycles: 5, idle: 'running' } },
  )
  await expect(match.measure()).rejects.toMatchObject({ code: 'SPEED_BOUNDS_FAILED_REQUESTS' })
  expect(match.result().rounds.length).toBeGreaterThan(0)
  await expect(match.decide('bad', { atLeast: 0.01 })).rejects.toMatchObject({ code: 'SPEED_BOUNDS_FAILED_REQUESTS' })
})

it('rejects a status other than 2xx that is not expected', async () => {
  const { code } = await failureOf(server(`response.statusCode = 500; response.end('ok')`), { expect: { body: 'ok' } })
  expect(code).toBe('SPEED_BOUNDS_WRONG_RESPONSE')
})

it('reports a missing expected header', async () => {
  const match = race({ ok, twin: ok }, { ...SMALL, expect: { headers: { 'Cache-Control': 'no-store' } } })
  await expect(match.compareResponses()).rejects.toThrow(/-cache-control: no-store/)
  const cached = server(`response.setHeader('Cache-Control', 'no-store').end('ok')`)
  const right = race({ cached, twin: cached }, { ...SMALL, expect: { headers: { 'Cache-Control': 'no-store' } } })
  await expect(right.compareResponses()).resolves.toBeUndefined()
})
