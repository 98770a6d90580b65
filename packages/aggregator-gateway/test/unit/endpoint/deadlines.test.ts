import { once } from 'node:events'
import { connect, type AddressInfo } from 'node:net'
import type { Socket } from 'node:net'
import { expect, it, onTestFinished } from 'vitest'
import { gateway, gatewayOf, jsonUpstream, sendJson, tcpUpstream, upstream } from '../../helpers/servers.ts'

/** Answers `/fast` at once, and nothing else ever. */
const halfHanging = (hanging: Set<Socket> = new Set()): Promise<string> =>
  upstream((request, response) => {
    if (request.url === '/fast') return sendJson(response, '"fast"')
    hanging.add(request.socket)
    request.socket.once('close', () => hanging.delete(request.socket))
  })

it('responds 504 when a required call hangs, and aborts it', async () => {
  const hanging = new Set<Socket>()
  const app = await gatewayOf(
    await halfHanging(hanging),
    { slow: { path: '/slow' }, fast: { path: '/fast' } },
    { timeout: 1000 },
  )
  const { statusCode, json } = await app.inject('/')
  expect([statusCode, json()]).toEqual([
    504,
    {
      statusCode: 504,
      code: 'AGGREGATOR_GATEWAY_UPSTREAM_TIMEOUT',
      error: 'Gateway Timeout',
      message: 'The call "slow" to it did not respond in time',
    },
  ])
  await expect.poll(() => hanging.size).toBe(0)
})

it('responds without an optional call that hangs, and says so', async () => {
  const app = await gatewayOf(
    await halfHanging(),
    { slow: { path: '/slow', optional: true }, fast: { path: '/fast' } },
    { timeout: 1000 },
  )
  const { statusCode, headers, json } = await app.inject('/')
  expect([statusCode, json()]).toEqual([200, { slow: null, fast: 'fast' }])
  expect(headers['x-gateway-complete']).toBe('false')
  expect(headers['x-gateway-missing']).toBe('slow;reason=timeout')
})

it('says that a response is complete', async () => {
  const app = await gatewayOf(await halfHanging(), { fast: { path: '/fast', optional: true } })
  const { headers } = await app.inject('/')
  expect([headers['x-gateway-complete'], headers['x-gateway-missing']]).toEqual(['true', undefined])
})

it("waits at most the call's own timeout", async () => {
  const app = await gatewayOf(
    await halfHanging(),
    { slow: { path: '/slow', optional: true, timeout: 50 }, fast: { path: '/fast' } },
    { timeout: 1_000_000 },
  )
  expect((await app.inject('/')).json()).toEqual({ slow: null, fast: 'fast' })
})

it('aborts a response that arrives byte by byte', async () => {
  let isClosed = false
  const origin = await tcpUpstream((socket) => {
    socket.write('HTTP/1.1 200 OK\r\ncontent-type: application/json\r\ncontent-length: 1000\r\n\r\n[')
    const dripping = setInterval(() => socket.write(' '), 10)
    socket.once('close', () => {
      clearInterval(dripping)
      isClosed = true
    })
  })
  const app = await gatewayOf(origin, { one: { path: '/' } }, { timeout: 200 })
  expect((await app.inject('/')).statusCode).toBe(504)
  await expect.poll(() => isClosed).toBe(true)
})

it('aborts its calls when the client leaves, and makes no further one', async () => {
  const hanging = new Set<Socket>()
  const origin = await halfHanging(hanging)
  const app = await gateway({
    upstreams: { it: origin },
    endpoints: [
      {
        path: '/',
        timeout: 60_000,
        calls: {
          one: { upstream: 'it', path: '/one' },
          two: { upstream: 'it', path: '/two' },
          three: { upstream: 'it', path: '/three/{calls.one}' },
        },
      },
    ],
  })
  await app.listen({ port: 0, host: '127.0.0.1' })
  const client = connect((app.server.address() as AddressInfo).port, '127.0.0.1')
  client.write('GET / HTTP/1.1\r\nhost: a\r\n\r\n')
  await once(client, 'ready')
  await expect.poll(() => hanging.size).toBe(2)
  client.destroy()
  await expect.poll(() => hanging.size).toBe(0)
})

it('makes no calls when the client has left before they start', async () => {
  const started: string[] = []
  const app = await gateway({
    upstreams: { it: await jsonUpstream((path) => path) },
    endpoints: [{ path: '/:id', calls: { one: { upstream: 'it', path: '/{params.id}' } } }],
    observers: [{ callStarted: (_call, { url }) => void started.push(url) }],
  })
  app.addHook('preHandler', ({ url }, { raw }, done) => {
    // As a stream of HTTP/2 that is reset in the packet in which it begins.
    if (url === '/leaves') process.nextTick(() => raw.destroy().emit('close'))
    done()
  })
  const gatewayOrigin = await app.listen({ port: 0, host: '127.0.0.1' })
  await expect(fetch(`${gatewayOrigin}/leaves`)).rejects.toThrow('fetch failed')
  expect(await (await fetch(`${gatewayOrigin}/stays`)).json()).toEqual({ one: '/stays' })
  expect(started).toEqual(['/stays'])
})

it('includes the time of dependent calls', async () => {
  const origin = await upstream((request, response) => {
    if (request.url === '/one') setTimeout(() => sendJson(response, '1'), 300)
  })
  const app = await gatewayOf(
    origin,
    { one: { path: '/one' }, two: { path: '/two/{calls.one}', optional: true } },
    { timeout: 1500 },
  )
  const { headers, json } = await app.inject('/')
  expect([json(), headers['x-gateway-missing']]).toEqual([{ one: 1, two: null }, 'two;reason=timeout'])
})

it('responds immediately when the deadline is over before it waits, without a warning of Node', async () => {
  const warnings: Error[] = []
  const note = (warning: Error): number => warnings.push(warning)
  process.on('warning', note)
  onTestFinished(() => void process.off('warning', note))
  const blocking = {
    callStarted: () => {
      const until = performance.now() + 30
      while (performance.now() < until);
    },
  }
  const app = await gateway({
    upstreams: { it: await halfHanging() },
    endpoints: [{ path: '/', timeout: 10, calls: { slow: { upstream: 'it', path: '/slow' } } }],
    observers: [blocking],
  })
  expect((await app.inject('/')).statusCode).toBe(504)
  expect(warnings).toEqual([])
})
