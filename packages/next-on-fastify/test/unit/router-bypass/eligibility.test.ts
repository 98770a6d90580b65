import type { IncomingHttpHeaders, IncomingMessage } from 'node:http'
import { describe, expect, it } from 'vitest'
import { isPlainPath, pathOf, queryOf } from '../../../src/next/plain-url.ts'
import type { RouteKind } from '../../../src/next/build/direct-routes.ts'
import { ineligible } from '../../../src/router-bypass/eligibility.ts'

function oddity(headers: IncomingHttpHeaders, kind?: RouteKind, method = 'GET', httpVersion = '1.1'): unknown {
  const request = { method, headers: { host: 'a.example', ...headers }, httpVersion }
  return ineligible(request as unknown as IncomingMessage, kind)
}

describe('a path', () => {
  it.each(['/', '/a', '/api/message', '/posts/first-one', '/a.b/c~d', '/a/b.json', '/(a)/@b', '/a:b;c=d,e+f!*$'])(
    'is plain: %s',
    (path) => {
      expect(isPlainPath(path)).toBe(true)
    },
  )

  it.each([
    '',
    '*',
    'a',
    '//',
    '//a',
    '/a/',
    '/a//b',
    '/./a',
    '/a/..',
    '/.well-known/a',
    '/a%20b',
    '/%61',
    '/a\\b',
    '/gr\u00fc\u00dfe',
    "/it's",
    '/a&b',
    '/a#b',
    '/a|b',
    '/[id]',
    '/_next/data/x/a.json',
    '/_next',
    'http://a.example/a',
    `/${'a'.repeat(1024)}`,
  ])('is not plain: %s', (path) => {
    expect(isPlainPath(path)).toBe(false)
  })

  it.each([
    ['/a', '/a'],
    ['/a?', '/a'],
    ['/a?b?c', '/a'],
    ['?a', ''],
  ])('of %s is %s', (url, path) => {
    expect(pathOf(url)).toBe(path)
  })
})

describe('a query', () => {
  it.each<[string, object]>([
    ['/a', {}],
    ['/a?', {}],
    ['/a?b', { b: '' }],
    ['/a?b=1&c=2&b=3', { b: ['1', '3'], c: '2' }],
    ['/a?b=%20+%C3%BC&c[]=1', { b: '  ü', 'c[]': '1' }],
    ['/a?b=c?d=e/f', { b: 'c?d=e/f' }],
    ['/a?_rsc=1a2b3', { _rsc: '1a2b3' }],
    [`/a?b=${'1'.repeat(990)}`, { b: '1'.repeat(990) }],
  ])('of %s is read as each parser does', (url, query) => {
    expect(queryOf(url)).toEqual(query)
    const { searchParams } = new URL(url, 'http://a.example')
    expect(Object.keys(query)).toEqual([...new Set(searchParams.keys())])
    for (const [name, value] of Object.entries(query)) expect(searchParams.getAll(name)).toEqual([value].flat())
  })

  it.each([
    '/a?b=%',
    '/a?b=%zz',
    '/a?b=%E0%A4',
    '/a?b="c"',
    '/a?b=c#d',
    '/a?b=\\',
    '/a?b=\u00fc',
    '/a?b c',
    '/a?__nextDataReq=1',
    '/a?_nextBubbleNoFallback=1',
    '/a?%5F%5Fnext=1',
    '/a?nxtPslug=b',
    '/a?__proto__=b',
    '/a?constructor=b',
    `/a?${'&'.repeat(1001)}`,
  ])('of %s is not for us to read', (url) => {
    expect(queryOf(url)).toBeUndefined()
  })
})

describe('a request is left to the router server', () => {
  it.each<[string, IncomingHttpHeaders]>([
    ['draft', { cookie: '__prerender_bypass=x' }],
    ['draft', { cookie: 'a=b; __next_preview_data=x' }],
    ['header', { 'next-action': 'x' }],
    ['header', { 'next-resume': '1' }],
    ['header', { 'x-nextjs-data': '1' }],
    ['header', { 'x-matched-path': '/' }],
    ['header', { 'x-now-route-matches': '1' }],
    ['header', { 'x-invoke-path': '/' }],
    ['header', { 'x-middleware-subrequest': 'middleware' }],
    ['header', { 'x-middleware-set-cookie': 'a=b' }],
    ['header', { 'x-middleware-prefetch': '1' }],
    ['header', { 'x-prerender-revalidate': 'x' }],
    ['header', { 'x-next-revalidated-tags': 'x' }],
    ['header', { 'x-vercel-id': 'x' }],
    ['header', { upgrade: 'websocket', connection: 'upgrade' }],
    ['header', { expect: '100-continue' }],
  ])('for its %s: %j', (why, headers) => {
    const kinds: (RouteKind | undefined)[] = [undefined, 'app-page', 'pages-page', 'pages-api', 'route-handler']
    expect(kinds.map((kind) => oddity(headers, kind))).toEqual(kinds.map(() => why))
  })

  it.each(['rsc', 'next-router-state-tree', 'next-router-prefetch', 'next-router-segment-prefetch', 'next-url'])(
    'for %s, but not on a page of the App Router',
    (name) => {
      expect(oddity({ [name]: '1' })).toBe('header')
      expect(oddity({ [name]: '1' }, 'pages-page')).toBe('header')
      expect(oddity({ [name]: '1' }, 'pages-api')).toBe('header')
      expect(oddity({ [name]: '1' }, 'route-handler')).toBe('header')
      expect(oddity({ [name]: '1' }, 'app-page')).toBeUndefined()
    },
  )

  it.each(['POST', 'PUT', 'PATCH', 'DELETE', 'OPTIONS'])('for %s on a page, but not on a handler', (method) => {
    expect(oddity({}, 'app-page', method)).toBe('method')
    expect(oddity({}, 'pages-page', method)).toBe('method')
    expect(oddity({}, 'pages-api', method)).toBeUndefined()
    expect(oddity({}, 'route-handler', method)).toBeUndefined()
    expect(oddity({}, undefined, method)).toBeUndefined()
  })

  it.each(['TRACE', 'PROPFIND', 'QUERY', 'CONNECT', 'get', ''])('for the method %s', (method) => {
    expect(oddity({}, 'pages-api', method)).toBe('method')
    expect(oddity({}, 'app-page', method)).toBe('method')
  })

  it.each(['1.0', '2.0', '0.9'])('for HTTP/%s', (version) => {
    expect(oddity({}, 'pages-api', 'GET', version)).toBe('protocol')
  })

  it('but not for properties that only routes read', () => {
    const headers = {
      authorization: 'Bearer x',
      cookie: 'session=1',
      range: 'bytes=0-1',
      'accept-encoding': 'gzip;q=0.5',
      'content-type': 'multipart/form-data',
      'if-none-match': '*',
      'x-forwarded-host': 'b.example',
      'x-http-method-override': 'DELETE',
    }
    for (const kind of ['app-page', 'pages-page', 'pages-api', 'route-handler'] as const) {
      expect(oddity(headers, kind)).toBeUndefined()
      expect(oddity(headers, kind, 'HEAD')).toBeUndefined()
    }
  })
})
