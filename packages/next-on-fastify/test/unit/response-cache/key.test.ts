import type { IncomingHttpHeaders } from 'node:http'
import { describe, expect, it } from 'vitest'
import { NEXT_ENCODINGS } from '../../../src/response-cache/content-encodings.ts'
import { requestKey } from '../../../src/response-cache/key.ts'

function keyOf(url: string, headers: IncomingHttpHeaders = {}, method = 'GET', httpVersionMajor = 1): unknown {
  const request = { url, headers: { host: 'a.example', ...headers }, method, httpVersionMajor }
  const found = requestKey(request, NEXT_ENCODINGS)
  return typeof found === 'string' ? found : found.key
}

describe('a request has no key', () => {
  it.each<[string, IncomingHttpHeaders]>([
    ['authorization', { authorization: 'Bearer x' }],
    ['authorization', { 'proxy-authorization': 'Bearer x' }],
    ['body', { 'content-length': '0' }],
    ['body', { 'content-type': 'multipart/form-data; boundary=x' }],
    ['body', { 'transfer-encoding': 'chunked' }],
    ['body', { expect: '100-continue' }],
    ['condition', { 'if-match': '"a"' }],
    ['condition', { 'if-modified-since': 'Sun, 22 Nov 2026 12:12:12 GMT' }],
    ['condition', { 'if-unmodified-since': 'Sun, 22 Nov 2026 12:12:12 GMT' }],
    ['condition', { 'if-none-match': '*' }],
    ['condition', { 'if-none-match': '"a", W/"b"' }],
    ['condition', { 'if-none-match': 'unquoted' }],
    ['condition', { 'if-none-match': '"a"', 'cache-control': 'max-age=0, no-cache' }],
    ['draft', { cookie: '__prerender_bypass=x' }],
    ['draft', { cookie: 'a=b; __next_preview_data=x' }],
    ['draft', { cookie: '__next_hmr_refresh_hash__=x' }],
    ['encoding', { 'accept-encoding': 'gzip;q=0' }],
    ['encoding', { 'accept-encoding': 'gzip, *' }],
    ['encoding', { 'accept-encoding': 'GZIP' }],
    ['encoding', { 'accept-encoding': 'gzip,' }],
    ['encoding', { 'accept-encoding': 'identity, gzip' }],
    ['encoding', { 'accept-encoding': 'deflate, identity' }],
    ['next-header', { 'next-action': 'x' }],
    ['next-header', { 'next-resume': '1' }],
    ['next-header', { 'next-hmr-refresh': '1' }],
    ['next-header', { 'x-invoke-path': '/' }],
    ['next-header', { 'x-invocation-id': '1' }],
    ['next-header', { 'x-matched-path': '/' }],
    ['next-header', { 'x-middleware-prefetch': '1' }],
    ['next-header', { 'x-middleware-subrequest': 'middleware' }],
    ['next-header', { 'x-next-revalidated-tags': 'x' }],
    ['next-header', { 'x-nextjs-data': '1' }],
    ['next-header', { 'x-now-route-matches': '1' }],
    ['next-header', { 'x-prerender-revalidate': 'x' }],
    ['next-header', { 'x-vercel-ip-country': 'x' }],
    ['range', { range: 'bytes=0-1' }],
    ['range', { 'if-range': '"a"' }],
    ['too-long', { rsc: '1', 'next-router-state-tree': 'x'.repeat(9000) }],
    ['upgrade', { upgrade: 'websocket', connection: 'upgrade' }],
  ])('%s: %o', (why, headers) => {
    expect(keyOf('/', headers)).toBe(why)
  })

  it('with a path of more than 2048 characters', () => {
    expect(keyOf(`/${'x'.repeat(2047)}`)).toContain('x'.repeat(2047))
    expect(keyOf(`/${'x'.repeat(2048)}`)).toBe('too-long')
  })

  it.each(['POST', 'PUT', 'OPTIONS', 'PURGE', 'get'])('with the method %s', (method) => {
    expect(keyOf('/', {}, method)).toBe('method')
  })

  it('by HTTP/2, which has other headers', () => {
    expect(keyOf('/', {}, 'GET', 2)).toBe('protocol')
  })

  it.each([
    '',
    '*',
    'a',
    'http://other.example/a',
    '//a',
    '/a//b',
    '/./a',
    '/a/../b',
    '/a/..',
    '/.well-known/a',
    '/a%2fb',
    '/%61',
    '/a\\b',
    '/a b',
    '/ä',
    '/a#b',
    '/a?b#c',
    '/a?b"c',
    '/a?\u0000',
  ])('with the URL %j', (url) => {
    expect(keyOf(url)).toBe('url')
  })
})

describe('requests with different responses have different keys', () => {
  it.each<[string, unknown, unknown]>([
    ['another path', keyOf('/a'), keyOf('/b')],
    ['another case', keyOf('/a'), keyOf('/A')],
    ['a trailing slash', keyOf('/a'), keyOf('/a/')],
    ['another query', keyOf('/a?b=1'), keyOf('/a?b=2')],
    ['another order of the query', keyOf('/a?b&c'), keyOf('/a?c&b')],
    ['an empty query', keyOf('/a'), keyOf('/a?')],
    ['HEAD', keyOf('/a'), keyOf('/a', {}, 'HEAD')],
    ['another host', keyOf('/a'), keyOf('/a', { host: 'b.example' })],
    ['no host', keyOf('/a'), keyOf('/a', { host: undefined })],
    ['a forwarded host', keyOf('/a'), keyOf('/a', { 'x-forwarded-host': 'b.example' })],
    ['a forwarded port', keyOf('/a'), keyOf('/a', { 'x-forwarded-port': '1' })],
    ['a forwarded protocol', keyOf('/a'), keyOf('/a', { 'x-forwarded-proto': 'https' })],
    ['gzip', keyOf('/a'), keyOf('/a', { 'accept-encoding': 'gzip' })],
    ['deflate', keyOf('/a', { 'accept-encoding': 'gzip' }), keyOf('/a', { 'accept-encoding': 'deflate' })],
    ['rsc', keyOf('/a'), keyOf('/a', { rsc: '1' })],
    ['next-url', keyOf('/a', { rsc: '1' }), keyOf('/a', { rsc: '1', 'next-url': '/' })],
    ['a prefetch', keyOf('/a', { rsc: '1' }), keyOf('/a', { rsc: '1', 'next-router-prefetch': '1' })],
    ['a segment', keyOf('/a', { rsc: '1' }), keyOf('/a', { rsc: '1', 'next-router-segment-prefetch': '/_tree' })],
    ['a tree', keyOf('/a', { rsc: '1' }), keyOf('/a', { rsc: '1', 'next-router-state-tree': '%5B%5D' })],
    [
      'a value that looks like another header',
      keyOf('/a', { rsc: '1', 'next-url': '/' }),
      keyOf('/a', { rsc: '1 next-url: /' }),
    ],
  ])('%s', (_, one, other) => {
    expect([typeof one, typeof other, one === other]).toEqual(['string', 'string', false])
    expect(String(one)).toContain(' ')
  })
})

it('ignores properties that Next ignores', () => {
  const plain = keyOf('/a')
  const others: IncomingHttpHeaders[] = [
    { cookie: 'user=1' },
    { 'user-agent': 'x' },
    { 'accept-language': 'de' },
    { 'accept-encoding': 'identity' },
    { 'accept-encoding': 'br, zstd' },
    { 'cache-control': 'no-cache' },
    { 'if-none-match': 'W/"a"' },
    { 'x-forwarded-for': '1.2.3.4' },
    { 'x-request-id': '1' },
  ]
  expect(others.map((headers) => keyOf('/a', headers))).toEqual(others.map(() => plain))
  expect(keyOf('/a', { 'accept-encoding': 'deflate, gzip' })).toBe(keyOf('/a', { 'accept-encoding': 'gzip, br' }))
})
