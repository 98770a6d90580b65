// A shared cache between gateway and client must not serve the response of one client to another.

import { expect, it } from 'vitest'
import { type Authenticator, claimsOf, type PassThroughOptions } from '../../../src/index.ts'
import { gateway, tcpUpstream, upstream } from '../../helpers/servers.ts'

const authentication: Authenticator = {
  authenticate: async ({ headers: { authorization } }) => (authorization === undefined ? undefined : { sub: 'anna' }),
}

interface Endpoint {
  readonly authentication: boolean | 'optional'
}

/** The `cache-control` that a client gets of an upstream's. */
async function cacheControlOf(
  given: string | undefined,
  passThrough: Partial<PassThroughOptions>,
  { authentication: ofEndpoint }: Endpoint = { authentication: false },
): Promise<unknown> {
  const files = await upstream((_request, response) => {
    if (given !== undefined) response.setHeader('cache-control', given)
    response.end('one')
  })
  const app = await gateway({
    upstreams: { files },
    authentication,
    endpoints: [
      { path: '/:id', authentication: ofEndpoint, passThrough: { upstream: 'files', path: '/files', ...passThrough } },
    ],
  })
  const response = await app.inject({ url: '/7', headers: { authorization: 'anna', 'x-tenant': 'acme' } })
  expect([response.statusCode, response.body]).toEqual([200, 'one'])
  return response.headers['cache-control']
}

it.each<[string, Partial<PassThroughOptions>, Endpoint?]>([
  ['a claim in its path', { path: '/files/{claims.sub}' }, { authentication: true }],
  ['a header in its path', { path: '/files/{headers.x-tenant}' }],
  ['a header in its query', { path: '/files?of={headers.x-tenant}' }],
  ['a header in its headers', { headers: { 'x-user': 'tenant {headers.x-tenant}' } }],
  ['a function in its headers', { headers: (request) => ({ 'x-user': String(claimsOf(request)?.['sub']) }) }],
  ['authentication', {}, { authentication: true }],
  ['optional authentication', {}, { authentication: 'optional' }],
])('a response with %s is private', async (_title, passThrough, endpoint) => {
  expect(await cacheControlOf('public, max-age=60', passThrough, endpoint)).toBe('private, max-age=60')
  expect(await cacheControlOf(undefined, passThrough, endpoint)).toBe('private')
})

it.each<[string, Partial<PassThroughOptions>]>([
  ['no value of the client', {}],
  ['values of its URL', { path: '/files/{params.id}' }],
  ['a forwarded header, which `vary` of the upstream covers', { forwardHeaders: ['x-tenant'] }],
  ['a header of the options', { headers: { 'x-key': 'secret' } }],
])('a response with %s keeps its cache-control', async (_title, passThrough) => {
  expect(await cacheControlOf('public, max-age=60', passThrough)).toBe('public, max-age=60')
  expect(await cacheControlOf(undefined, passThrough)).toBeUndefined()
})

it.each([
  ['no-store', 'private, no-store'],
  ['PUBLIC,S-MaxAge=9 , max-age=1', 'private, max-age=1'],
  ['private="set-cookie, x", no-cache="a, public"', 'private, no-cache="a, public"'],
  ['public"', 'private'],
])('the cache-control %s becomes %s', async (given, expected) => {
  expect(await cacheControlOf(given, { path: '/{headers.x-tenant}' })).toBe(expected)
})

it.each([
  ...['cdn-cache-control', 'cloudflare-cdn-cache-control', 'surrogate-control', 'edge-control', 'x-accel-expires'],
])('a private response has no %s, which would let a CDN store it', async (name) => {
  const files = await upstream((_request, response) => {
    response.setHeader(name, 'max-age=60').setHeader('x-kept', 'yes').end('one')
  })
  const responseHeaders = [name, 'x-kept']
  const app = await gateway({
    upstreams: { files },
    endpoints: [
      { path: '/of-client', passThrough: { upstream: 'files', path: '/{headers.x-tenant}', responseHeaders } },
      { path: '/of-all', passThrough: { upstream: 'files', path: '/', responseHeaders } },
    ],
  })
  const responses = ['/of-client', '/of-all'].map((url) => app.inject({ url, headers: { 'x-tenant': 'acme' } }))
  const headers = (await Promise.all(responses)).map((response) => response.headers)
  expect(headers.map((one) => [one[name], one['x-kept']])).toEqual([
    [undefined, 'yes'],
    ['max-age=60', 'yes'],
  ])
})

it('is private for an upstream that wants `cache-control` not to be forwarded', async () => {
  const files = await upstream((_request, response) => {
    response.setHeader('cache-control', 'max-age=60').setHeader('connection', 'close, cache-control').end('one')
  })
  const endpoints = [{ path: '/', passThrough: { upstream: 'files', path: '/{headers.x-tenant}' } }] as const
  const app = await gateway({ upstreams: { files }, endpoints })
  const { headers } = await app.inject({ url: '/', headers: { 'x-tenant': 'acme' } })
  expect(headers['cache-control']).toBe('private, max-age=60')
})

it.each<[string, Record<string, string>, string]>([
  ['a header of an observer', { 'x-user': 'anna' }, 'private, max-age=60'],
  ['trace headers of an observer', { traceparent: '00-1' }, 'public, max-age=60'],
  ['no header of an observer', {}, 'public, max-age=60'],
])('a response with %s has cache-control %j: %s', async (_title, callHeaders, expected) => {
  const files = await upstream((_request, response) => {
    response.setHeader('cache-control', 'public, max-age=60').end('one')
  })
  const endpoints = [{ path: '/', passThrough: { upstream: 'files', path: '/' } }] as const
  const app = await gateway({ upstreams: { files }, observers: [{ callHeaders: () => callHeaders }], endpoints })
  expect((await app.inject('/')).headers['cache-control']).toBe(expected)
})

it.each(['', 'cache-control: max-age=60\r\n', 'cache-control: max-age=60\r\nconnection: cache-control\r\n'])(
  'an error in place of a private response has no `cache-control`: %j',
  async (given) => {
    const files = await tcpUpstream((socket) => {
      socket.on('data', () => socket.end(`HTTP/1.1 200 OK\r\n${given}content-length: 9\r\n\r\n`))
    })
    const endpoints = [{ path: '/', passThrough: { upstream: 'files', path: '/{headers.x-tenant}' } }] as const
    const app = await gateway({ upstreams: { files }, endpoints })
    const { statusCode, headers } = await app.inject({ url: '/', headers: { 'x-tenant': 'acme' } })
    expect([statusCode, headers['cache-control']]).toEqual([502, undefined])
  },
)
