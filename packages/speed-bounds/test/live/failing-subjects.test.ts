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

it('that crash at start: tells their stderr', async () => {
  const { code, message } = await failureOf(script(`throw new Error('no database')`))
  expect(code).toBe('SPEED_BOUNDS_SUBJECT_NOT_STARTED')
  expect(message).toMatch(/^bad \(node .*\) ended with code 1/)
  expect(message).toContain('no database')
})

it('that are not there', async () => {
  const { code, message } = await failureOf({ command: ['no-such-program'] })
  expect(code).toBe('SPEED_BOUNDS_SUBJECT_NOT_STARTED')
  expect(message).toContain('no-such-program ENOENT')
})

it('that never listen: says where they should have, and what they wrote', async () => {
  const { code, message } = await failureOf(script(`console.error('waiting for godot'); setInterval(() => {}, 1000)`), {
    startTimeout: 1500,
  })
  expect(code).toBe('SPEED_BOUNDS_SUBJECT_NOT_READY')
  expect(message).toMatch(/did not respond at http:\/\/127\.0\.0\.1:\d+ within 1500 ms/)
  expect(message).toContain('waiting for godot')
})

it('that accept and never answer', async () => {
  const { code } = await failureOf(server(''), { startTimeout: 1500 })
  expect(code).toBe('SPEED_BOUNDS_SUBJECT_NOT_READY')
})

it('that listen on a port of their own: the second process finds it taken', async () => {
  const { code, message } = await failureOf(
    script(`
import { createServer } from 'node:http'
const listen = (port) => createServer((_, response) => response.end('ok')).listen(port, process.env.HOST)
listen(process.env.PORT)
listen(34127)`),
  )
  expect(code).toBe('SPEED_BOUNDS_PORT_TAKEN')
  expect(message).toContain('EADDRINUSE')
})

it('that answer differently: shows the difference', async () => {
  const { code, message } = await failureOf(server(`response.setHeader('content-type', 'text/html').end('<p>ok')`))
  expect(code).toBe('SPEED_BOUNDS_WRONG_RESPONSE')
  expect(message).toContain("bad responds differently to case 'GET /' (GET /)")
  expect(message).toContain('-ok')
  expect(message).toContain('+<p>ok')
  expect(message).toContain('+content-type: text/html')
})

it('that answer the first request rightly and then another status', async () => {
  const { code, message } = await failureOf(
    server(`response.statusCode = requests > 20 ? 503 : 200; response.end('ok')`),
  )
  expect(code).toBe('SPEED_BOUNDS_FAILED_REQUESTS')
  expect(message).toMatch(
    /0 connection errors, 0 timeouts, 0 connections without a response, [1-9]\d* responses with another status/,
  )
})

it('that stop answering under load', async () => {
  const { code, message } = await failureOf(server(`if (requests <= 500) response.end('ok')`), { requestTimeout: 1000 })
  expect(code).toBe('SPEED_BOUNDS_FAILED_REQUESTS')
  expect(message).toMatch(/bad failed [1-9]\d* of \d+ requests/)
})

it('that stop answering between two turns', async () => {
  const { code, message } = await failureOf(server(`if (process.uptime() < 5) response.end('ok')`), {
    measurement: { ...MEASUREMENT, cycles: 100 },
    requestTimeout: 1000,
  })
  expect(code).toBe('SPEED_BOUNDS_FAILED_REQUESTS')
  expect(message).toMatch(/bad failed [1-9]\d* of \d+ requests .*: 0 connection errors, [1-9]\d* timeouts/)
})

it('that others keep waiting for longer than a request may take do not fail', async () => {
  const { rounds } = await race(
    { ok, twin: ok },
    { ...SMALL, duration: 2400, requestTimeout: 1000, measurement: { ...MEASUREMENT, turn: 1200 } },
  ).measure()
  expect(rounds.map(({ failures }) => failures)).toEqual([0, 0, 0, 0])
})

it('that pause for longer than a round are waited for', async () => {
  const paused = server(`
    if (requests % 2000 === 0) {
      const end = Date.now() + 400
      while (Date.now() < end);
    }
    response.end('ok')`)
  const { rounds } = await race({ ok, paused }, SMALL).measure()
  expect(rounds.map(({ failures }) => failures)).toEqual(rounds.map(() => 0))
})

it('that leave a few connections hanging while the others are fast', async () => {
  const { code, message } = await failureOf(
    // By time: by number, a fast machine would have all of them hang. And few at once: on a busy machine, where it takes long to
    // tell that one hangs, all of them would by then.
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

it('that drop connections with a request under way', async () => {
  const { code } = await failureOf(
    server(`if (requests > 20 && requests % 10 === 0) request.socket.end(); else response.end('ok')`),
  )
  expect(code).toBe('SPEED_BOUNDS_FAILED_REQUESTS')
})

it('that die in the middle of a round: tells how and why', async () => {
  const { code, message } = await failureOf(
    server(`if (requests > 500) { console.error('out of luck'); process.exit(7) } response.end('ok')`),
  )
  expect(code).toBe('SPEED_BOUNDS_SUBJECT_DIED')
  expect(message).toMatch(/bad \(node .*\) ended with code 7/)
  expect(message).toContain('out of luck')
})

it('whose failures stay within the allowance are measured', async () => {
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
])('that close each connection after its answer fail none, and answer as soon as they do: %s', async (_, load) => {
  const closing = server(`response.shouldKeepAlive = requests <= 20; setTimeout(() => response.end('ok'), 20)`)
  const { rounds } = await race({ closing, twin: closing }, { ...SMALL, ...load, connections: 10 }).measure()
  for (const { failures, p50 } of rounds) {
    expect(failures).toBe(0)
    expect(p50).toBeGreaterThan(19)
    // Not the time since a request that was sent over the connection before.
    expect(p50).toBeLessThan(80)
  }
})

it('that close connections without a word lose what was asked over them, by turns and at one go', async () => {
  const closing = server(
    `if (requests > 20) response.once('finish', () => request.socket.destroySoon()); response.end('ok')`,
  )
  for (const turn of [200, 100]) {
    const { rounds } = await race(
      { closing, twin: closing },
      { ...SMALL, duration: 200, maxErrorRate: 0.6, measurement: { ...MEASUREMENT, turn } },
    ).measure()
    for (const { failures, responses } of rounds) expect(failures / (failures + responses)).toBeCloseTo(0.5, 1)
  }
})

it('are measured where the allowance is theirs, and told with what they failed', async () => {
  const flaky = server(`response.statusCode = requests > 20 && requests % 50 === 0 ? 503 : 200; response.end('ok')`)
  const result = await race({ ok, flaky }, { ...SMALL, maxErrorRate: { flaky: 0.05 } }).measure()
  expect(result.rounds.filter(({ failures }) => failures > 0).map(({ subject }) => subject)).toContain('flaky')
  for (const text of [toTerminal(result), toMarkdown(result)])
    expect(text).toMatch(/^flaky failed \d+ of \d+ requests of GET \/ \(\d(?:\.\d)? %\)\.$/m)
  expect(toMarkdown(result)).not.toContain('ok failed')
})

it('fail the race where the allowance is of others', async () => {
  const { code, message } = await failureOf(
    server(`response.statusCode = requests > 20 && requests % 50 === 0 ? 503 : 200; response.end('ok')`),
    { maxErrorRate: { ok: 0.05 } },
  )
  expect(code).toBe('SPEED_BOUNDS_FAILED_REQUESTS')
  expect(message).toContain('(maxErrorRate: 0)')
})

it('that ignore SIGTERM are killed, with all that they started', async () => {
  const stubborn = server(
    `response.end('ok')`,
    `process.on('SIGTERM', () => {}); process.removeAllListeners('SIGTERM'); process.on('SIGTERM', () => {})
     const { spawn } = await import('node:child_process')
     spawn(process.execPath, ['-e', 'process.on("SIGTERM", () => {}); setInterval(() => {}, 1000)', ${JSON.stringify(scripts)}], { stdio: 'ignore', detached: true }).unref()`,
  )
  await race({ ok, stubborn }, SMALL).measure()
  expect(processesWith(scripts)).toEqual([])
})

it('that answer slowly at start are waited for', async () => {
  const late = script(`
import { createServer } from 'node:http'
setTimeout(() => createServer((_, response) => response.end('ok')).listen(process.env.PORT, process.env.HOST), 700)
process.on('SIGTERM', () => process.exit(0))`)
  await expect(race({ ok, late }, SMALL).compareResponses()).resolves.toBeUndefined()
})

it('count the CPU of their children', async () => {
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

it('end the race for good: what was measured before proves nothing', async () => {
  // One volley opens as many connections as there are: it fails some rounds after its warm-up.
  const bad = server(`
    const known = (globalThis.known ??= new WeakSet())
    if (!known.has(request.socket)) globalThis.connections = (globalThis.connections ?? 0) + 1
    known.add(request.socket)
    response.statusCode = globalThis.connections > 35 ? 503 : 200
    response.end('ok')`)
  const match = race({ ok, bad }, { ...SMALL, connections: 10, measurement: { ...MEASUREMENT, cycles: 5 } })
  await expect(match.measure()).rejects.toMatchObject({ code: 'SPEED_BOUNDS_FAILED_REQUESTS' })
  expect(match.result().rounds.length).toBeGreaterThan(0)
  await expect(match.decide('bad', { atLeast: 0.01 })).rejects.toMatchObject({ code: 'SPEED_BOUNDS_FAILED_REQUESTS' })
})

it('that answer with an expected body but another status than 2xx', async () => {
  const { code } = await failureOf(server(`response.statusCode = 500; response.end('ok')`), { expect: { body: 'ok' } })
  expect(code).toBe('SPEED_BOUNDS_WRONG_RESPONSE')
})

it('that lack an expected header', async () => {
  const match = race({ ok, twin: ok }, { ...SMALL, expect: { headers: { 'Cache-Control': 'no-store' } } })
  await expect(match.compareResponses()).rejects.toThrow(/-cache-control: no-store/)
  const cached = server(`response.setHeader('Cache-Control', 'no-store').end('ok')`)
  const right = race({ cached, twin: cached }, { ...SMALL, expect: { headers: { 'Cache-Control': 'no-store' } } })
  await expect(right.compareResponses()).resolves.toBeUndefined()
})
