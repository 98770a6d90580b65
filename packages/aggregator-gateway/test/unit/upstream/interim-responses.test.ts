// Responses with a status below 200 that nobody has asked for are ignored (RFC 9110, 15.2).

import { gzipSync } from 'node:zlib'
import { describe, expect, it } from 'vitest'
import { gateway, tcpUpstream } from '../../helpers/servers.ts'

const JSON_HEAD = 'HTTP/1.1 200 OK\r\ncontent-type: application/json\r\n'
const CONTINUE = 'HTTP/1.1 100 Continue\r\n\r\n'
const FINAL = `${JSON_HEAD}content-length: 7\r\n\r\n{"a":1}`

/** What an upstream sends for one request, in pieces, each in a packet of its own. */
const INTERIM: readonly [title: string, parts: readonly string[]][] = [
  ['100 in the same packet', [CONTINUE + FINAL]],
  ['100 before it', [CONTINUE, FINAL]],
  ['100 with headers', ['HTTP/1.1 100 Continue\r\nserver: x\r\nx-a: 1\r\n\r\n', FINAL]],
  ['100 without a reason', ['HTTP/1.1 100 \r\n\r\n', FINAL]],
  ['100 byte by byte', (CONTINUE + FINAL).split('')],
  ['100 several times', [CONTINUE + CONTINUE, CONTINUE, FINAL]],
  ['102', ['HTTP/1.1 102 Processing\r\n\r\n', FINAL]],
  ['103', ['HTTP/1.1 103 Early Hints\r\nlink: </a>\r\n\r\n', FINAL]],
  ['103 and 100', ['HTTP/1.1 103 Early Hints\r\nlink: </a>\r\n\r\n', CONTINUE + FINAL]],
]

const sending = (parts: readonly string[]): Promise<{ origin: string; connections: () => number }> => {
  let connections = 0
  return tcpUpstream((socket) => {
    connections++
    socket.setNoDelay(true)
    socket.on('data', async () => {
      for (const part of parts) {
        socket.write(part)
        await new Promise((resolve) => setTimeout(resolve, parts.length > 10 ? 1 : 10))
      }
    })
  }).then((origin) => ({ origin, connections: () => connections }))
}

const before = (origin: string, cache: boolean) =>
  gateway({
    upstreams: { it: { origin, cache } },
    endpoints: [
      { path: '/call', calls: { one: { upstream: 'it', path: '/' } } },
      { path: '/hedge', calls: { one: { upstream: 'it', path: '/', hedge: 1 } } },
      {
        path: '/post',
        method: 'POST',
        calls: { one: { upstream: 'it', path: '/', method: 'POST', forwardBody: true } },
      },
      { path: '/pass', passThrough: { upstream: 'it', path: '/' } },
    ],
  })

describe.each(INTERIM)('%s', (_, parts) => {
  it.each([false, true])('is ignored by calls, hedges and pass-through (cache: %s)', async (cache) => {
    const { origin, connections } = await sending(parts)
    const app = await before(origin, cache)
    for (let round = 0; round < 2; round++) {
      expect((await app.inject('/call')).body).toBe('{"one":{"a":1}}')
      expect((await app.inject({ method: 'POST', url: '/post', payload: {} })).body).toBe('{"one":{"a":1}}')
      expect((await app.inject('/pass')).body).toBe('{"a":1}')
    }
    expect(connections()).toBe(1)
    expect((await app.inject('/hedge')).body).toBe('{"one":{"a":1}}')
  })
})

it('the same bytes within a body are part of the body', async () => {
  const body = `HTTP/1.1 100 Continue\r\n\r\n`
  const { origin } = await sending([`HTTP/1.1 200 OK\r\ncontent-length: ${body.length * 2}\r\n\r\n`, body, body])
  const app = await before(origin, false)
  for (let round = 0; round < 2; round++) expect((await app.inject('/pass')).body).toBe(body + body)
})

it('an interim response that never ends is a timeout', async () => {
  const { origin } = await sending(['HTTP/1.1 100 Continue\r\n', `x-a: ${'a'.repeat(20_000)}`])
  const app = await before(origin, false)
  expect((await app.inject('/call')).statusCode).toBe(502)
})

it('a compressed response after an interim response is decompressed', async () => {
  const body = gzipSync('{"a":1}')
  const origin = await tcpUpstream((socket) => {
    socket.on('data', () => {
      socket.write(`${CONTINUE}${JSON_HEAD}content-encoding: gzip\r\ncontent-length: ${body.length}\r\n\r\n`)
      socket.write(body)
    })
  })
  expect((await (await before(origin, false)).inject('/call')).body).toBe('{"one":{"a":1}}')
})
