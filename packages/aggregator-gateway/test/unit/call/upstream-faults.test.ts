// Each fault of an upstream, by real sockets: the client gets a 502 that says which call and why, or `null` where the
// call is optional, and the next request is answered.

import { gzipSync } from 'node:zlib'
import type { Socket } from 'node:net'
import type { FastifyInstance } from 'fastify'
import { describe, expect, it } from 'vitest'
import { gateway, gatewayOf, jsonUpstream, nobody, sendJson, tcpUpstream, upstream } from '../../helpers/servers.ts'

const raw =
  (text: string | Buffer, then: (socket: Socket) => void = () => {}): (() => Promise<string>) =>
  () =>
    tcpUpstream((socket) => {
      socket.on('data', () => {
        socket.write(text)
        then(socket)
      })
    })
const head = (headers: string): string => `HTTP/1.1 200 OK\r\ncontent-type: application/json\r\n${headers}\r\n\r\n`
const body =
  (text: string | Buffer, type = 'application/json'): (() => Promise<string>) =>
  () =>
    upstream((_, response) => void response.writeHead(200, { 'content-type': type }).end(text))
const compressed =
  (text: string | Buffer, encoding = 'gzip'): (() => Promise<string>) =>
  () =>
    upstream((_, response) => {
      response.writeHead(200, { 'content-type': 'application/json', 'content-encoding': encoding }).end(text)
    })
const status =
  (code: number, headers: Record<string, string> = {}): (() => Promise<string>) =>
  () =>
    upstream(
      (_, response) => void response.writeHead(code, { 'content-type': 'application/json', ...headers }).end('{}'),
    )

const deep = `${'['.repeat(65)}${']'.repeat(65)}`

const FAULTS: readonly [title: string, origin: () => Promise<string>, reason: string, message: string][] = [
  ['refuses', nobody, 'connection', 'did not respond'],
  ['closes at once', () => tcpUpstream((socket) => socket.destroy()), 'connection', 'did not respond'],
  ['closes after the request', raw('', (socket) => socket.destroy()), 'connection', 'did not respond'],
  [
    'resets in the body',
    raw(`${head('content-length: 100')}{`, (socket) => socket.resetAndDestroy()),
    'connection',
    'did not respond',
  ],
  [
    'sends less than it says',
    raw(`${head('content-length: 100')}{}`, (socket) => socket.end()),
    'connection',
    'did not respond',
  ],
  ['sends more than it says', raw(`${head('content-length: 1')}{}`), 'body', 'responded with a body that is not JSON'],
  ['speaks no HTTP', raw('220 smtp ready\r\n'), 'connection', 'did not respond'],
  [
    'cuts its chunks',
    raw(`${head('transfer-encoding: chunked')}5\r\n{"a":\r\n`, (socket) => socket.end()),
    'connection',
    'did not respond',
  ],
  ['answers 500', status(500), 'status', 'responded 500'],
  ['answers 503', status(503), 'status', 'responded 503'],
  ['answers 404', status(404), 'status', 'responded 404'],
  ['answers 429', status(429, { 'retry-after': '1' }), 'status', 'responded 429'],
  ['redirects', status(302, { location: 'http://127.0.0.1:1/' }), 'status', 'responded 302'],
  ['sends no JSON', body('{'), 'body', 'responded with a body that is not JSON'],
  ['sends something after it', body('{} x'), 'body', 'responded with a body that is not JSON'],
  ['sends two values', body('{}{}'), 'body', 'responded with a body that is not JSON'],
  ['closes an object and opens one', body('1},"admin":{"a":1'), 'body', 'responded with a body that is not JSON'],
  ['sends nothing', body(''), 'body', 'responded with a body that is not JSON'],
  ['sends a byte order mark', body('\uFEFF{}'), 'body', 'responded with a body that is not JSON'],
  ['sends no UTF-8', body(Buffer.from('7b2261223a22ff227d', 'hex')), 'body', 'responded with a body that is not UTF-8'],
  ['sends UTF-16', body(Buffer.from('{}', 'utf16le')), 'body', 'responded with a body that is not JSON'],
  ['nests too deep', body(deep), 'body', 'responded with a body that has more than 64 levels'],
  ['sends too much', body(`"${'a'.repeat(20_000)}"`), 'too-large', 'responded with more than is allowed'],
  [
    'says that it will send too much',
    raw(head('content-length: 100000000')),
    'too-large',
    'responded with more than is allowed',
  ],
  [
    'sends too many headers',
    raw(head(Array.from({ length: 10_000 }, (_, index) => `x-${index}: 1`).join('\r\n'))),
    'too-large',
    'responded with more than is allowed',
  ],
  ['sends HTML', body('{}', 'text/html'), 'content-type', 'responded with text/html, not JSON'],
  [
    'sends JSON as text',
    body('{}', 'text/plain; charset=application/json'),
    'content-type',
    'responded with text/plain; charset=application/json, not JSON',
  ],
  [
    'compresses to what is too large',
    compressed(gzipSync(Buffer.alloc(100_000, ' '))),
    'too-large',
    'responded with more than is allowed',
  ],
  ['compresses what is no JSON', compressed(gzipSync('{')), 'body', 'responded with a body that is not JSON'],
  [
    'compresses half',
    compressed(gzipSync('{}').subarray(0, 15)),
    'body',
    'responded with a body that cannot be decompressed',
  ],
  [
    'compresses in its own way',
    compressed('{}', 'gzip, br'),
    'content-type',
    'responded with the content encoding gzip, br, which cannot be read',
  ],
]

describe.each(FAULTS)('an upstream that %s', (_title, makeOrigin, reason, message) => {
  /** A gateway with one call to it, and one to an upstream that does what it should. */
  const before = async (call: { optional?: boolean }): Promise<FastifyInstance> =>
    gateway({
      upstreams: {
        bad: { origin: await makeOrigin(), maxResponseBytes: 10_000, connectTimeout: 500 },
        good: await jsonUpstream(() => 1),
      },
      endpoints: [
        {
          path: '/',
          timeout: 5000,
          calls: { one: { upstream: 'bad', path: '/', ...call }, two: { upstream: 'good', path: '/' } },
        },
      ],
    })

  it('fails a request that requires it', async () => {
    const app = await before({})
    for (const _ of [1, 2]) {
      const { statusCode, json } = await app.inject('/')
      expect([statusCode, json()]).toEqual([
        502,
        {
          statusCode: 502,
          code: 'AGGREGATOR_GATEWAY_UPSTREAM_FAILED',
          error: 'Bad Gateway',
          message: `The call "one" to bad ${message}`,
        },
      ])
    }
  })

  it('is null in the response if the call is optional', async () => {
    const app = await before({ optional: true })
    for (const _ of [1, 2]) {
      const { statusCode, headers, json } = await app.inject('/')
      expect([statusCode, json(), headers['x-gateway-missing']]).toEqual([
        200,
        { one: null, two: 1 },
        `one;reason=${reason}`,
      ])
    }
  })
})

it('a valid response after an invalid one is used, and vice versa', async () => {
  const answers = ['{"a":1}', '{"a":1', '{"a":1}', '{"a":1}', '{"a":2}']
  const origin = await upstream((_, response) => sendJson(response, answers.shift()!))
  const app = await gatewayOf(origin, { one: { path: '/' } })
  const statuses: unknown[] = []
  for (let count = 0; count < 5; count++) statuses.push((await app.inject('/')).body.slice(0, 15))
  expect(statuses).toEqual([
    '{"one":{"a":1}}',
    '{"statusCode":5',
    '{"one":{"a":1}}',
    '{"one":{"a":1}}',
    '{"one":{"a":2}}',
  ])
})
