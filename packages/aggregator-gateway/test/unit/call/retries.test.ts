import { createServer } from 'node:http'
import type { Socket } from 'node:net'
import { describe, expect, it } from 'vitest'
import { gateway, gatewayOf, jsonUpstream, nobody, sendJson, tcpUpstream, upstream } from '../../helpers/servers.ts'

/** An upstream that answers with these statuses, one after the other, and then with 200. */
async function withStatuses(
  statuses: readonly number[],
  headers: Record<string, string> = {},
): Promise<{ origin: string; times: number[] }> {
  const times: number[] = []
  const origin = await upstream((_, response) => {
    times.push(performance.now())
    const status = statuses[times.length - 1]
    if (status === undefined) sendJson(response, '1')
    else response.writeHead(status, headers).end()
  })
  return { origin, times }
}

describe('a failed call', () => {
  it.each([429, 500, 502, 503, 504])('is retried after %i', async (status) => {
    const { origin, times } = await withStatuses([status, status])
    const app = await gatewayOf(origin, { one: { path: '/', retries: 2 } })
    expect((await app.inject('/')).body).toBe('{"one":1}')
    expect(times).toHaveLength(3)
  })

  it.each([301, 400, 401, 403, 404, 405, 409, 422, 501])('is not retried after %i', async (status) => {
    const { origin, times } = await withStatuses([status])
    const app = await gatewayOf(origin, { one: { path: '/', retries: 2 } })
    expect((await app.inject('/')).statusCode).toBe(502)
    expect(times).toHaveLength(1)
  })

  it('is retried `retries` times', async () => {
    const { origin, times } = await withStatuses([503, 503, 503, 503])
    const app = await gatewayOf(origin, { one: { path: '/', retries: 2 }, two: { path: '/two' } })
    expect((await app.inject('/')).statusCode).toBe(502)
    expect(times.length).toBeLessThanOrEqual(4)
  })

  it('is not retried by default', async () => {
    const { origin, times } = await withStatuses([503])
    const app = await gatewayOf(origin, { one: { path: '/' } })
    expect((await app.inject('/')).statusCode).toBe(502)
    expect(times).toHaveLength(1)
  })

  it.each(['PUT', 'DELETE'] as const)('is retried for %s', async (method) => {
    const { origin, times } = await withStatuses([503])
    const app = await gatewayOf(origin, { one: { path: '/', method, retries: 1 } })
    expect((await app.inject('/')).body).toBe('{"one":1}')
    expect(times).toHaveLength(2)
  })

  it('is retried after a reset in the body', async () => {
    let count = 0
    const origin = await tcpUpstream((socket) => {
      socket.on('data', () => {
        count++
        const head = 'HTTP/1.1 200 OK\r\ncontent-type: application/json\r\ncontent-length: 2\r\n\r\n'
        if (count > 1) socket.write(`${head}{}`)
        else socket.write(`${head}{`, () => socket.resetAndDestroy())
      })
    })
    const app = await gatewayOf(origin, { one: { path: '/', retries: 1 } })
    expect((await app.inject('/')).body).toBe('{"one":{}}')
  })

  it('is not retried after an invalid response', async () => {
    let count = 0
    const origin = await upstream((_, response) => {
      count++
      sendJson(response, '{')
    })
    const app = await gatewayOf(origin, { one: { path: '/', retries: 3 } })
    expect((await app.inject('/')).statusCode).toBe(502)
    expect(count).toBe(1)
  })
})

describe('retry-after', () => {
  it('delays the retry', async () => {
    const { origin, times } = await withStatuses([429], { 'retry-after': '1' })
    const app = await gatewayOf(origin, { one: { path: '/', retries: 1 } }, { timeout: 10_000 })
    expect((await app.inject('/')).body).toBe('{"one":1}')
    expect(times[1]! - times[0]!).toBeGreaterThan(990)
  })

  it('may be a date', async () => {
    const { origin } = await withStatuses([503], { 'retry-after': new Date(Date.now() - 60_000).toUTCString() })
    const app = await gatewayOf(origin, { one: { path: '/', retries: 1 } })
    expect((await app.inject('/')).body).toBe('{"one":1}')
  })

  it.each(['60', 'tomorrow', new Date(Date.now() + 600_000).toUTCString()])(
    '%s is not waited for by a client that has 5 seconds',
    async (retryAfter) => {
      const { origin, times } = await withStatuses([503], { 'retry-after': retryAfter })
      const app = await gatewayOf(origin, { one: { path: '/', retries: 1 } }, { timeout: 5000 })
      expect((await app.inject('/')).statusCode).toBe(502)
      expect(times).toHaveLength(1)
    },
  )
})

it('an upstream that fails all calls gets 10 % more of them, after the first ten', async () => {
  let count = 0
  const origin = await upstream((_, response) => {
    count++
    response.writeHead(503).end()
  })
  const app = await gateway({
    upstreams: { it: { origin, circuitBreaker: false } },
    endpoints: [{ path: '/', calls: { one: { upstream: 'it', path: '/', retries: 5 } } }],
  })
  for (let round = 0; round < 10; round++) {
    await Promise.all(Array.from({ length: 20 }, () => app.inject('/')))
  }
  expect(count).toBeGreaterThanOrEqual(200 + 10)
  expect(count).toBeLessThanOrEqual(200 + 10 + 20)
})

it('without a budget there are no retries', async () => {
  const { origin, times } = await withStatuses([503])
  const app = await gateway({
    upstreams: { it: { origin, retryBudget: 0 } },
    endpoints: [{ path: '/', calls: { one: { upstream: 'it', path: '/', retries: 5 } } }],
  })
  expect((await app.inject('/')).statusCode).toBe(502)
  expect(times).toHaveLength(1)
})

describe('a connection that its server closes while it is used again', () => {
  const ANSWER = 'HTTP/1.1 200 OK\r\ncontent-type: application/json\r\ncontent-length: 1\r\n\r\n1'
  /** Each connection answers one request, and breaks at the second. */
  const closing = async (close: (socket: Socket) => void): Promise<{ origin: string; requests: () => number }> => {
    let requests = 0
    const origin = await tcpUpstream((socket) => {
      let answered = 0
      socket.on('data', () => {
        requests++
        if (answered++ === 0) socket.write(ANSWER)
        else close(socket)
      })
    })
    return { origin, requests: () => requests }
  }

  it.each<[string, (socket: Socket) => void]>([
    ['by a reset', (socket) => socket.resetAndDestroy()],
    ['by an end', (socket) => socket.end()],
    ['by a close', (socket) => socket.destroy()],
  ])('%s: nobody notices', async (_, close) => {
    const { origin, requests } = await closing(close)
    const app = await gatewayOf(origin, { one: { path: '/' } })
    for (let count = 0; count < 6; count++) expect((await app.inject('/')).body).toBe('{"one":1}')
    expect(requests()).toBeGreaterThan(6)
  })

  it.each<[string, 'GET' | 'PUT', boolean]>([
    ['GET', 'GET', false],
    ['PUT', 'PUT', false],
    ['GET with a cache', 'GET', true],
  ])('%s is sent once more, on a new connection, whatever other connections there are', async (_, method, cache) => {
    let isBroken = false
    let requests = 0
    let connections = 0
    const waiting: (() => void)[] = []
    const origin = await tcpUpstream((socket) => {
      connections++
      socket.on('data', () => {
        requests++
        if (isBroken) socket.resetAndDestroy()
        else waiting.push(() => socket.write(ANSWER))
      })
    })
    const app = await gateway({
      upstreams: { it: { origin, circuitBreaker: false, cache } },
      endpoints: [
        { path: '/calls', method, calls: { one: { upstream: 'it', path: '/', method } } },
        { path: '/pass', method, passThrough: { upstream: 'it', path: '/' } },
      ],
    })
    for (const url of ['/calls', '/pass']) {
      isBroken = false
      const both = Array.from({ length: 6 }, () => app.inject({ method, url: '/calls' }).then(({ body }) => body))
      await expect.poll(() => waiting.length).toBe(6)
      for (const respond of waiting.splice(0)) respond()
      expect(await Promise.all(both)).toEqual(Array.from({ length: 6 }, () => '{"one":1}'))
      isBroken = true
      requests = 0
      const before = connections
      expect((await app.inject({ method, url })).statusCode).toBe(502)
      expect([requests, connections - before]).toEqual([2, 1])
    }
  })

  it('further attempts need `retries` and the budget', async () => {
    let isBroken = false
    let requests = 0
    const origin = await tcpUpstream((socket) => {
      socket.on('data', () => {
        requests++
        if (isBroken) socket.resetAndDestroy()
        else socket.write(ANSWER)
      })
    })
    const app = await gateway({
      upstreams: { it: { origin, circuitBreaker: false, retryBudget: 0 }, paid: { origin, circuitBreaker: false } },
      endpoints: [
        { path: '/free', calls: { one: { upstream: 'it', path: '/', retries: 5 } } },
        { path: '/paid', calls: { one: { upstream: 'paid', path: '/', retries: 2 } } },
      ],
    })
    const count = async (url: string): Promise<number> => {
      isBroken = false
      expect((await app.inject(url)).statusCode).toBe(200)
      isBroken = true
      requests = 0
      expect((await app.inject(url)).statusCode).toBe(502)
      return requests
    }
    expect([await count('/free'), await count('/paid')]).toEqual([2, 4])
  })

  it('a request that the server has seen is not sent again', async () => {
    let requests = 0
    const origin = await tcpUpstream((socket) => {
      socket.on('data', () => {
        if (++requests === 1) socket.write(ANSWER)
        else socket.write('HTTP/1.1 102 Processing\r\n\r\n', () => setTimeout(() => socket.destroy(), 50))
      })
    })
    const app = await gatewayOf(origin, { one: { path: '/' } })
    expect((await app.inject('/')).statusCode).toBe(200)
    expect((await app.inject('/')).statusCode).toBe(502)
    expect(requests).toBe(2)
  })

  it('a POST is not sent twice', async () => {
    const { origin, requests } = await closing((socket) => socket.resetAndDestroy())
    const app = await gateway({
      upstreams: { it: { origin, maxConnections: 1 } },
      endpoints: [{ path: '/', calls: { one: { upstream: 'it', path: '/', method: 'POST' } } }],
    })
    expect((await app.inject('/')).statusCode).toBe(200)
    expect((await app.inject('/')).statusCode).toBe(502)
    expect(requests()).toBe(2)
  })

  it('a request on a new connection is not sent again', async () => {
    let connections = 0
    const origin = await tcpUpstream((socket) => {
      connections++
      socket.once('data', () => socket.resetAndDestroy())
    })
    const app = await gatewayOf(origin, { one: { path: '/' } })
    expect((await app.inject('/')).statusCode).toBe(502)
    expect(connections).toBe(1)
  })

  it('a server that stops and starts again loses no request', async () => {
    const listener = createServer((_, response) => sendJson(response, '1'))
    const origin = await new Promise<string>((resolve) => {
      listener.listen(0, '127.0.0.1', () =>
        resolve(`http://127.0.0.1:${(listener.address() as { port: number }).port}`),
      )
    })
    const app = await gatewayOf(origin, { one: { path: '/' }, two: { path: '/' } })
    expect((await app.inject('/')).statusCode).toBe(200)
    const { port } = new URL(origin)
    listener.closeAllConnections()
    await new Promise((resolve) => listener.close(resolve))
    await new Promise<void>((resolve) => listener.listen(Number(port), '127.0.0.1', resolve))
    expect((await app.inject('/')).body).toBe('{"one":1,"two":1}')
    listener.closeAllConnections()
    listener.close()
  })
})

describe('of two origins, one where nobody listens', () => {
  it.each(['GET', 'POST'] as const)('%s goes to the other', async (method) => {
    const seen: string[] = []
    const origin = await jsonUpstream((path) => seen.push(path))
    const app = await gateway({
      upstreams: { it: { origin: [await nobody(), origin] } },
      endpoints: [{ path: '/', calls: { one: { upstream: 'it', path: '/', method } } }],
    })
    for (let count = 0; count < 40; count++) expect((await app.inject('/')).statusCode).toBe(200)
    expect(seen).toHaveLength(40)
  })
})

it('a retry goes to another origin', async () => {
  const seen: number[] = []
  const failing = await upstream((_, response) => {
    seen.push(0)
    response.writeHead(503).end()
  })
  const working = await jsonUpstream(() => seen.push(1))
  const app = await gateway({
    upstreams: { it: { origin: [failing, working], circuitBreaker: false, retryBudget: 1 } },
    endpoints: [{ path: '/', calls: { one: { upstream: 'it', path: '/', retries: 1 } } }],
  })
  for (let count = 0; count < 10; count++) expect((await app.inject('/')).statusCode).toBe(200)
  expect(seen.filter((origin) => origin === 0)).toHaveLength(5)
})
