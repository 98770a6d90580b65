// The log says why calls fail; clients are not told where upstreams are and what they say.

import { once } from 'node:events'
import { createServer as createTcpServer } from 'node:net'
import type { ServerResponse } from 'node:http'
import { Writable } from 'node:stream'
import type { FastifyReply, FastifyRequest } from 'fastify'
import { describe, expect, it, onTestFinished, vi } from 'vitest'
import type { CallOptions, EndpointOptions, PassThroughEndpointOptions, UpstreamOptions } from '../../../src/index.ts'
import { gateway, jsonUpstream, nobody, sendJson, tcpUpstream, upstream } from '../../helpers/servers.ts'

/** Path of the package in a stack. */
const SOURCES = '/aggregator-gateway/src/'

interface Line {
  readonly level: number
  readonly msg: string
  readonly call?: string
  readonly upstream?: string
  readonly origin?: string
  readonly reason?: string
  readonly status?: number
  readonly repeated?: number
  readonly reqId?: string
  readonly err?: { readonly message: string; readonly stack?: string }
}

/** A gateway with a logger, and its lines. */
const logging = async (
  endpoint: EndpointOptions | PassThroughEndpointOptions,
  options: UpstreamOptions,
): Promise<{ ask: () => Promise<{ statusCode: number; body: string }>; lines: Line[] }> => {
  const lines: Line[] = []
  const stream = new Writable({
    write(chunk: Buffer, _encoding, done) {
      lines.push(
        ...chunk
          .toString()
          .trim()
          .split('\n')
          .map((line) => JSON.parse(line) as Line),
      )
      done()
    },
  })
  const app = await gateway({
    upstreams: { it: { circuitBreaker: false, ...options } },
    endpoints: [endpoint],
    fastify: { logger: { level: 'info', stream } },
  })
  return { ask: () => app.inject('/'), lines }
}

/** The lines except those that Fastify writes for each request. */
const written = (lines: readonly Line[]): Line[] =>
  lines.filter(({ msg }) => !/^(?:incoming request|request completed|Server listening .*)$/.test(msg))

const LEVELS: Readonly<Record<string, number>> = { info: 30, warn: 40, error: 50 }
const CALL: EndpointOptions = { path: '/', timeout: 300, calls: { one: { upstream: 'it', path: '/' } } }
const ONLY: EndpointOptions = { path: '/', calls: { one: { upstream: 'it', path: '/', optional: true } } }
const OPTIONAL: EndpointOptions = { ...ONLY, allowAllFailed: true }
const PASS: PassThroughEndpointOptions = { path: '/', timeout: 300, passThrough: { upstream: 'it', path: '/' } }

it.each<[string, string, EndpointOptions | PassThroughEndpointOptions, string, string]>([
  ['a call', 'error', CALL, 'call "one"', 'one'],
  ['an optional call', 'warn', OPTIONAL, 'optional call "one"', 'one'],
  ['the only call, optional', 'error', ONLY, 'optional call "one"', 'one'],
  ['a pass-through', 'error', PASS, 'pass-through', 'passThrough'],
])(
  '%s that cannot connect says so at `%s`, with the address, and the client is not told',
  async (_, level, endpoint, what, call) => {
    const origin = await nobody()
    const { ask, lines } = await logging(endpoint, { origin })
    const { body } = await ask()
    const { host, port } = new URL(origin)
    expect(written(lines)).toMatchObject([
      {
        level: LEVELS[level],
        msg: `${what} to it did not respond: connect ECONNREFUSED ${host}`,
        call,
        upstream: 'it',
        origin,
        reason: 'connection',
        reqId: expect.any(String) as string,
        err: { message: `connect ECONNREFUSED ${host}` },
      },
    ])
    expect(body).not.toContain('ECONNREFUSED')
    expect(body).not.toContain(port)
  },
)

it('has the errors of all addresses of a host', async () => {
  const server = createTcpServer()
  server.listen(0, '127.0.0.1')
  await once(server, 'listening')
  const { port } = server.address() as { port: number }
  server.close()
  const lookup: UpstreamOptions['lookup'] = (_host, _options, done) => {
    done(null, [
      { address: '127.0.0.1', family: 4 },
      { address: '127.0.0.2', family: 4 },
    ])
  }
  const { ask, lines } = await logging(CALL, { origin: `http://several:${port}`, lookup })
  await ask()
  expect(written(lines).map(({ msg }) => msg)).toEqual([
    `call "one" to it did not respond: connect ECONNREFUSED 127.0.0.1:${port}, connect ECONNREFUSED 127.0.0.2:${port}`,
  ])
})

it.each<[string, () => Promise<string>, string]>([
  [
    'closes',
    () => tcpUpstream((socket) => void socket.once('data', () => socket.end())),
    'did not respond: other side closed',
  ],
  ['answers 500', () => upstream((_, response) => void response.writeHead(500).end()), 'responded 500'],
  ['sends no JSON', () => upstream((_, response) => sendJson(response, '{')), 'responded with a body that is not JSON'],
  ['hangs', () => upstream(() => {}), 'did not respond in time'],
])('says it of an upstream that %s', async (_, makeOrigin, message) => {
  const origin = await makeOrigin()
  const { ask, lines } = await logging(CALL, { origin })
  await ask()
  expect(written(lines)).toMatchObject([{ msg: `call "one" to it ${message}`, origin }])
})

it('has one line per origin and cause in 10 seconds, with the number of repetitions', async () => {
  let status = 500
  const first = await upstream((_, response) => void response.writeHead(status).end())
  const second = await nobody()
  const { ask, lines } = await logging(CALL, { origin: [first, second] })
  const now = vi.spyOn(performance, 'now')
  onTestFinished(() => now.mockRestore())
  for (let count = 0; count < 20; count++) await ask()
  expect(written(lines).map(({ msg }) => msg)).toEqual(['call "one" to it responded 500'])
  status = 404
  await ask()
  expect(written(lines).map(({ msg }) => msg)).toEqual([
    'call "one" to it responded 500',
    'call "one" to it responded 404',
  ])
  status = 500
  const before = performance.now()
  now.mockImplementation(() => before + 11_000)
  await ask()
  expect(written(lines).at(-1)).toMatchObject({ msg: 'call "one" to it responded 500', repeated: 19 })
})

const cut = (): Promise<string> =>
  tcpUpstream((socket) => {
    socket.once('data', () => {
      socket.end('HTTP/1.1 200 OK\r\ncontent-type: application/json\r\ncontent-length: 9\r\n\r\n{')
    })
  })
const FAULTS: Readonly<
  Record<string, { origin: () => Promise<string>; call?: Partial<CallOptions>; upstream?: object }>
> = {
  hangs: { origin: () => upstream(() => {}) },
  'refuses connections': { origin: nobody },
  'responds 500': { origin: () => upstream((_, response) => void response.writeHead(500).end()) },
  'sends no JSON': { origin: () => upstream((_, response) => sendJson(response, '{')) },
  'sends another type': { origin: () => upstream((_, response) => void response.end('text')) },
  'sends too much': { origin: () => jsonUpstream(() => 'a'.repeat(100)), upstream: { maxResponseBytes: 50 } },
  'closes the connection in its response': { origin: cut },
  'lacks the mapped part': { origin: () => jsonUpstream(() => ({})), call: { target: 'data' } },
  'breaks its schema': { origin: () => jsonUpstream(() => 1), call: { schema: { type: 'string' }, validate: true } },
}

describe('a request that fails is one line at `error`, without a stack of the gateway', () => {
  const expectOneLine = (lines: readonly Line[]): void => {
    const errors = written(lines)
    expect(errors.map(({ level, msg }) => [level, msg])).toEqual([[50, expect.any(String)]])
    expect(errors[0]!.err?.stack ?? '').not.toContain(SOURCES)
  }

  it.each(Object.keys(FAULTS))('a call to an upstream that %s', async (fault) => {
    const { origin, call, upstream: options } = FAULTS[fault]!
    const calls = { one: { upstream: 'it', path: '/', ...call } }
    const { ask, lines } = await logging({ ...CALL, calls }, { ...options, origin: await origin() })
    expect((await ask()).statusCode).toBeGreaterThanOrEqual(502)
    expectOneLine(lines)
  })

  it.each(['hangs', 'refuses connections'])('a pass-through to an upstream that %s', async (fault) => {
    const { ask, lines } = await logging(PASS, { origin: await FAULTS[fault]!.origin() })
    expect((await ask()).statusCode).toBeGreaterThanOrEqual(502)
    expectOneLine(lines)
  })

  it('a pass-through whose response is too large', async () => {
    const origin = await FAULTS['sends too much']!.origin()
    const endpoint = { path: '/', passThrough: { upstream: 'it', path: '/', maxResponseBytes: 50 } }
    const { ask, lines } = await logging(endpoint, { origin })
    expect((await ask()).statusCode).toBe(502)
    expectOneLine(lines)
  })

  it('a call behind an open circuit', async () => {
    const { ask, lines } = await logging(CALL, { origin: await nobody(), circuitBreaker: {} })
    let { body } = await ask()
    for (let count = 0; count < 50 && !body.includes('CIRCUIT_OPEN'); count++) ({ body } = await ask())
    expect(body).toContain('AGGREGATOR_GATEWAY_CIRCUIT_OPEN')
    expect(written(lines).map(({ level, reason }) => [level, reason])).toEqual([
      [50, 'connection'],
      [50, 'circuit-open'],
    ])
  })

  it('a call whose queue is full', async () => {
    const waiting: ServerResponse[] = []
    const origin = await upstream((_, response) => void waiting.push(response))
    const { ask, lines } = await logging({ ...CALL, timeout: 60_000 }, { origin, maxConnections: 1, maxQueue: 0 })
    // An injected request begins when it is waited for.
    const first = ask().then(({ statusCode }) => statusCode)
    await expect.poll(() => waiting.length).toBe(1)
    expect((await ask()).statusCode).toBe(503)
    expectOneLine(lines)
    sendJson(waiting[0]!, '1')
    expect(await first).toBe(200)
  })

  it('a call whose dependency has no value', async () => {
    const calls = {
      one: { upstream: 'it', path: '/' },
      two: { upstream: 'it', path: '/{calls.one.id}' },
    }
    const { ask, lines } = await logging({ ...CALL, calls }, { origin: await jsonUpstream(() => ({})) })
    expect((await ask()).statusCode).toBe(502)
    expectOneLine(lines)
  })

  it('requests that are coalesced', async () => {
    const { origin } = FAULTS['responds 500']!
    const { ask, lines } = await logging({ ...CALL, coalesce: true }, { origin: await origin() })
    const responses = await Promise.all([ask(), ask(), ask()])
    expect(responses.map(({ statusCode }) => statusCode)).toEqual([502, 502, 502])
    expectOneLine(lines)
  })

  it('after an asynchronous onError hook of the app, which gets the error', async () => {
    const seen: unknown[] = []
    const onError = async (_request: unknown, _reply: unknown, error: { code: string }): Promise<void> => {
      await Promise.resolve()
      seen.push(error.code)
    }
    const { ask, lines } = await logging({ ...CALL, route: { onError } }, { origin: await nobody() })
    await ask()
    expect(seen).toEqual(['AGGREGATOR_GATEWAY_UPSTREAM_FAILED'])
    expectOneLine(lines)
  })
})

it('has a line of the request too where all of several optional calls fail', async () => {
  const one = { upstream: 'it', path: '/', optional: true }
  const { ask, lines } = await logging({ path: '/', calls: { one, two: one } }, { origin: await nobody() })
  expect((await ask()).statusCode).toBe(502)
  expect(written(lines).map(({ level, msg }) => [level, msg])).toEqual([
    [40, expect.stringMatching(/^optional call "one" to it did not respond: connect ECONNREFUSED/)],
    [50, 'The call "one" to it did not respond'],
  ])
  expect(written(lines)[1]!.err!.stack).not.toContain(SOURCES)
})

it('logs a forwarded 404 at `info`, once', async () => {
  const origin = await upstream((_, response) => void response.writeHead(404).end())
  const calls = { one: { upstream: 'it', path: '/', forwardStatuses: [404] } }
  const { ask, lines } = await logging({ ...CALL, calls }, { origin })
  expect((await ask()).statusCode).toBe(404)
  expect(written(lines)).toMatchObject([{ level: 30, msg: 'call "one" to it responded 404' }])
})

it('leaves other errors to the error handler of Fastify', async () => {
  const calls = { one: { upstream: 'it', path: '/' } }
  const compose = (): never => {
    throw new Error('a fault of the app')
  }
  const { ask, lines } = await logging({ ...CALL, calls, compose }, { origin: await jsonUpstream(() => 1) })
  expect((await ask()).statusCode).toBe(500)
  expect(written(lines)).toMatchObject([
    { level: 50, msg: 'a fault of the app', err: { stack: expect.stringContaining(import.meta.filename) as string } },
  ])
})

it('hides no line of an error handler of the app', async () => {
  const route = {
    errorHandler: (err: Error, request: FastifyRequest, reply: FastifyReply) => {
      request.log.error({ err }, 'own line')
      reply.log.warn({ err }, 'own line')
      return { failed: true }
    },
  }
  const { ask, lines } = await logging({ ...CALL, route }, { origin: await nobody() })
  expect((await ask()).body).toBe('{"failed":true}')
  expect(written(lines).filter(({ msg }) => msg === 'own line')).toHaveLength(2)
})

it('logs a pass-through that fails after its head once at `error`', async () => {
  const lines: Line[] = []
  const stream = { write: (line: string) => void lines.push(JSON.parse(line) as Line) }
  const app = await gateway({
    upstreams: { it: await cut() },
    endpoints: [{ path: '/', passThrough: { upstream: 'it', path: '/' } }],
    fastify: { logger: { level: 'info', stream } },
  })
  const url = await app.listen({ port: 0, host: '127.0.0.1' })
  await expect(fetch(url).then((response) => response.text())).rejects.toThrow(/./)
  await expect.poll(() => lines.map(({ msg }) => msg)).toContain('stream closed prematurely')
  expect(written(lines).map(({ level, msg }) => [level, msg])).toEqual([
    [50, 'pass-through to it did not respond: other side closed'],
    [30, 'stream closed prematurely'],
  ])
})
