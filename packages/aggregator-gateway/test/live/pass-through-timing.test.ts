// Backpressure and timeouts of pass-through endpoints, with real sockets on both sides.

import { request as httpRequest } from 'node:http'
import { connect } from 'node:net'
import { describe, expect, it, vi } from 'vitest'
import { dial, listening, passing } from '../helpers/pass-through.ts'
import { tcpUpstream, upstream } from '../helpers/servers.ts'

describe('backpressure', () => {
  /** Writes until it may not any more, and counts. */
  const endless = (counts: { written: number }): Promise<string> =>
    upstream((_, response) => {
      const write = (): void => {
        do counts.written += 65_536
        while (response.write(Buffer.alloc(65_536)) && !response.destroyed)
      }
      response.on('drain', write)
      write()
    })

  it('a slow client slows the upstream down', async () => {
    const counts = { written: 0 }
    const origin = await endless(counts)
    const app = await passing(origin, {}, {}, { maxResponseBytes: 1e10 })
    const { socket } = await dial(await listening(app), 'GET /a HTTP/1.1\r\nhost: a\r\n\r\n')
    socket.pause()
    let last = -1
    await vi.waitFor(
      () => {
        const before = last
        last = counts.written
        expect(last).toBe(before)
      },
      { interval: 200, timeout: 5000 },
    )
    expect(counts.written).toBeLessThan(30_000_000)
    socket.resume()
    await vi.waitFor(() => expect(counts.written).toBeGreaterThan(last + 10_000_000), { timeout: 5000 })
  }, 15_000)

  it('a slow upstream slows the client down', async () => {
    const origin = await tcpUpstream((socket) => void socket.pause())
    const app = await passing(
      origin,
      { forwardBody: true },
      { method: 'POST', timeout: 1500, route: { bodyLimit: 1e10 } },
    )
    const port = await listening(app)
    const request = httpRequest({ port, path: '/a', method: 'POST', headers: { 'content-length': '900000000' } })
    request.on('error', () => {})
    let written = 0
    const write = (): void => {
      do written += 65_536
      while (request.write(Buffer.alloc(65_536)) && !request.destroyed)
    }
    request.on('drain', write)
    write()
    let last = -1
    await vi.waitFor(
      () => {
        const before = last
        last = written
        expect(last).toBe(before)
      },
      { interval: 200, timeout: 5000 },
    )
    expect(written).toBeLessThan(30_000_000)
    request.destroy()
  }, 15_000)
})

describe('time', () => {
  it('an upstream that does not respond in time is a 504, and aborted', async () => {
    let isClosed = false
    const origin = await upstream((request) => void request.socket.once('close', () => (isClosed = true)))
    const app = await passing(origin, {}, { timeout: 50 })
    const { statusCode, json } = await app.inject('/a')
    expect([statusCode, json()]).toEqual([
      504,
      {
        statusCode: 504,
        code: 'AGGREGATOR_GATEWAY_UPSTREAM_TIMEOUT',
        error: 'Gateway Timeout',
        message: 'The call to it did not respond in time',
      },
    ])
    await expect.poll(() => isClosed).toBe(true)
  })

  it('a response may take longer than `timeout`, but no pause in it', async () => {
    const origin = await upstream((request, response) => {
      let left = 5
      const more = setInterval(() => {
        if (left-- > 0) response.write('chunk')
        else if (request.url !== '/files/hangs') response.end()
      }, 400)
      response.once('close', () => clearInterval(more))
    })
    const app = await passing(origin, {}, { timeout: 1500 })
    const { closed, said } = await dial(await listening(app), 'GET /hangs HTTP/1.1\r\nhost: a\r\n\r\n')
    expect((await app.inject('/ends')).body).toBe('chunk'.repeat(5))
    expect(await closed).toBe('ECONNRESET')
    expect(said()).toContain('chunk')
    expect(said()).not.toMatch(/0\r\n\r\n$/)
  })

  it('a client that reads nothing is reset, and a slow one is not', async () => {
    const body = Buffer.alloc(30_000_000)
    const origin = await upstream((_, response) => {
      response.writeHead(200, { 'content-length': body.length })
      response.end(body)
    })
    const app = await passing(origin, { clientTimeout: 1000 }, { timeout: 900 }, { maxResponseBytes: 1e9 })
    const port = await listening(app)
    const stalled = await dial(port, 'GET /a HTTP/1.1\r\nhost: a\r\n\r\n')
    stalled.socket.pause()
    const slow = connect(port, '127.0.0.1')
    let taken = 0
    const longerThanThat = performance.now() + 2500
    slow.on('data', (chunk) => {
      taken += chunk.length
      if (performance.now() > longerThanThat) return
      slow.pause()
      setTimeout(() => slow.resume(), 5)
    })
    slow.write('GET /a HTTP/1.1\r\nhost: a\r\n\r\n')
    await vi.waitFor(() => expect(taken).toBeGreaterThan(30_000_000), { timeout: 20_000 })
    slow.destroy()
    stalled.socket.resume()
    // A socket of Node 22 that was paused tells of a reset as of an end.
    await stalled.closed
    expect(stalled.length()).toBeLessThan(30_000_000)
  }, 30_000)

  it.each([
    ['longer than', 900, 400],
    ['much shorter than', 200, 600_000],
  ])(
    'a client that stops sending gets a 408 after a `clientTimeout` %s `timeout`',
    async (_, clientTimeout, timeout) => {
      const origin = await upstream((request) => void request.resume().on('error', () => {}))
      const app = await passing(origin, { forwardBody: true, clientTimeout }, { method: 'POST', timeout })
      const { said, closed } = await dial(
        await listening(app),
        'POST /a HTTP/1.1\r\nhost: a\r\ncontent-type: a/b\r\ncontent-length: 10\r\n\r\n12345',
      )
      await closed
      expect(said()).toMatch(/^HTTP\/1.1 408 .*AGGREGATOR_GATEWAY_CLIENT_TIMEOUT/s)
    },
  )
})
