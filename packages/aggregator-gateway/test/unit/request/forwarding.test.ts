import type { IncomingHttpHeaders } from 'node:http'
import { expect, it } from 'vitest'
import { gateway, gatewayOf, jsonUpstream, sendJson, upstream } from '../../helpers/servers.ts'

const OURS = {
  authorization: 'Bearer secret',
  cookie: 'session=1',
  'x-forwarded-for': '1.2.3.4',
  'x-tenant': 'acme',
  'accept-language': 'de',
  connection: 'keep-alive',
  te: 'trailers',
  'proxy-authorization': 'Basic x',
}

it('forwards no header of the client by default', async () => {
  let seen: IncomingHttpHeaders = {}
  const origin = await jsonUpstream((_, { headers }) => (seen = headers))
  const app = await gatewayOf(origin, { one: { path: '/' } })
  await app.inject({ url: '/?admin=1', headers: OURS })
  expect(seen).toEqual({ host: origin.slice(7), connection: 'keep-alive', accept: 'application/json' })
})

it('forwards named headers, and sends its own', async () => {
  let seen: IncomingHttpHeaders = {}
  const origin = await jsonUpstream((_, { headers }) => (seen = headers))
  const app = await gatewayOf(origin, {
    one: { path: '/', forwardHeaders: ['x-tenant', 'accept-language', 'x-missing'], headers: { 'x-from': 'gateway' } },
  })
  await app.inject({ url: '/', headers: OURS })
  expect(seen).toEqual({
    host: origin.slice(7),
    connection: 'keep-alive',
    accept: 'application/json',
    'x-tenant': 'acme',
    'accept-language': 'de',
    'x-from': 'gateway',
  })
})

it('sends a header of its own once, in any case of letters', async () => {
  let seen: IncomingHttpHeaders = {}
  const origin = await jsonUpstream((_, { headers }) => (seen = headers))
  const app = await gatewayOf(origin, { one: { path: '/', headers: { Accept: 'application/problem+json' } } })
  await app.inject('/')
  expect(seen['accept']).toBe('application/problem+json')
})

it('responds 400 when the client declares a forwarded header as its connection’s', async () => {
  let calls = 0
  const origin = await jsonUpstream(() => ++calls)
  const app = await gatewayOf(origin, { one: { path: '/', forwardHeaders: ['x-tenant', 'accept-language'] } })
  const { statusCode, json } = await app.inject({ url: '/', headers: { ...OURS, connection: 'keep-alive , X-Tenant' } })
  expect([statusCode, json<{ code: string }>().code, calls]).toEqual([400, 'AGGREGATOR_GATEWAY_BAD_PARAMETER', 0])
})

it.each([
  ['/orders?tenant={headers.x-tenant}', 'tenant'],
  ['/orders?fixed=1&ten%61nt={headers.x-tenant}', 'tenant'],
  ['/orders?visibility=public', 'visibility'],
])('rejects a parameter that %s sets in forwardQuery', async (path, name) => {
  const options = { path, forwardQuery: ['page', name] }
  const message = `.forwardQuery": expected parameters that the path ${path} does not set, got "${name}"`
  await expect(gatewayOf('http://localhost:1', { one: options })).rejects.toThrow(message)
  const endpoints = [{ path: '/', passThrough: { upstream: 'it', ...options } }] as const
  await expect(gateway({ upstreams: { it: 'http://localhost:1' }, endpoints })).rejects.toThrow(message)
})

it("forwards only the body of the upstream's response", async () => {
  const origin = await upstream((_, response) => {
    response.setHeader('set-cookie', 'a=1').setHeader('x-internal', '1').setHeader('cache-control', 'public')
    sendJson(response, '1')
  })
  const { headers } = await (await gatewayOf(origin, { one: { path: '/' } })).inject('/')
  expect(Object.keys(headers).toSorted()).toEqual(['connection', 'content-length', 'content-type', 'date'])
})

it('forwards the JSON body with `forwardBody`', async () => {
  const origin = await upstream((request, response) => {
    let text = ''
    request.setEncoding('utf8').on('data', (part: string) => (text += part))
    request.on('end', () => sendJson(response, JSON.stringify([request.method, request.headers['content-type'], text])))
  })
  const app = await gatewayOf(
    origin,
    { one: { path: '/', method: 'POST', forwardBody: true }, two: { path: '/{body.id}', method: 'PUT' } },
    { method: 'POST' },
  )
  const { json } = await app.inject({ method: 'POST', url: '/', payload: { id: 1, text: 'é' } })
  expect(json()).toEqual({ one: ['POST', 'application/json', '{"id":1,"text":"é"}'], two: ['PUT', null, ''] })
})

it('responds 500 and aborts the calls if the body cannot be serialized', async () => {
  const ended: unknown[] = []
  const origin = await jsonUpstream((path) => path)
  const app = await gatewayOf(
    origin,
    { one: { path: '/one' }, two: { path: '/two', method: 'POST', forwardBody: true } },
    { method: 'POST' },
    [{ callEnded: ({ name }, { reason }) => void ended.push([name, reason]) }],
  )
  app.addHook('preHandler', async (request) => {
    if (request.headers['x-big'] !== undefined) request.body = { big: 1n }
  })
  const big = await app.inject({ method: 'POST', url: '/', payload: {}, headers: { 'x-big': 'yes' } })
  expect(big.json()).toMatchObject({ statusCode: 500, message: expect.stringContaining('BigInt') as string })
  expect(ended).toEqual([['one', 'aborted']])
  const { json } = await app.inject({ method: 'POST', url: '/', payload: {} })
  expect(json()).toEqual({ one: '/one', two: '/two' })
})
