import type { IncomingHttpHeaders, IncomingMessage, ServerResponse } from 'node:http'
import { setImmediate } from 'node:timers/promises'
import { describe, expect, it, onTestFinished } from 'vitest'
import { canSkipRenderServer } from '../../../src/next/request-preparation.ts'
import type { RouteKind } from '../../../src/next/build/direct-routes.ts'
import { entrypointsOf } from '../../../src/next/rendering/entrypoints.ts'
import { UnsupportedNextError, type RouteMatch } from '../../../src/next/internals.ts'
import { entrypointFile } from '../../helpers/entrypoint-file.ts'

// How an entry point is called is asked of Next itself in test/live and in the differential test.

type Meta = Record<string, unknown>
interface Call {
  readonly headers: IncomingHttpHeaders
  readonly vary: unknown
  readonly context: { readonly waitUntil?: unknown; readonly requestMeta?: Meta }
}

const key = Symbol('meta')
const getMeta = (request: object): Meta => (request as { [key]: Meta })[key]

/** What a render server has that is used here, each of which leaves its trace. */
const SERVER = {
  hostname: 'localhost',
  port: 3000,
  normalizeReq: (request: IncomingMessage) => ({ originalRequest: request }),
  normalizeRes: (response: ServerResponse) => ({ originalResponse: response }),
  attachRequestMeta({ originalRequest }: { originalRequest: IncomingMessage }, { query }: { query: object }) {
    Object.assign(getMeta(originalRequest), { initURL: originalRequest.url, initQuery: { ...query } })
  },
  setVaryHeader(_: object, { originalResponse }: { originalResponse: Meta }, isApp: boolean, route: string) {
    originalResponse['vary'] = [isApp, route]
  },
  async getIncrementalCache({ requestHeaders }: { requestHeaders: IncomingHttpHeaders }) {
    const cache = { host: requestHeaders.host, for: requestHeaders['x-forwarded-for'], isReset: false }
    return Object.assign(cache, { resetRequestCache: () => (cache.isReset = true) })
  },
  getWaitUntil: () => 'waits until',
  async render(
    this: { renderPageComponent(): Promise<unknown> },
    _: object,
    { originalResponse }: { originalResponse: Meta },
    path: string,
    query: object,
    url: object,
    isInternal: boolean,
  ) {
    originalResponse['failure'] = await this.renderPageComponent().catch((error: unknown) => error)
    originalResponse['rendered'] = { path, query, url, isInternal }
  },
  renderPageComponent: () => Promise.resolve('a page'),
  async handleRequest(this: { handleRequestImpl(): Promise<void> }, request: object, response: Meta) {
    response['spanned'] = getMeta(request)['invokePath']
    await this.handleRequestImpl()
  },
  handleRequestImpl: () => Promise.resolve(),
}

const HANDLER = `exports.handler = async ({ headers }, { vary }, context) => {
  globalThis.called.push({ headers: { ...headers }, vary, context })
}`

const matchOf = (filename: unknown, params?: Record<string, string[]>): RouteMatch => ({
  definition: { kind: 'kind', page: '/page', pathname: '/route', filename },
  params,
})

/** What the render server leaves on each request of the path. */
const OF_PATH: Meta = {
  relativeProjectDir: 'web',
  invokePath: '/route',
  invokeOutput: '/route',
  middlewareInvoke: false,
  bubbleNoFallback: true,
  isLocaleDomain: false,
  distDir: '/web/.next',
}

/** What it has left on the first one. */
const LEFT: Meta = {
  ...OF_PATH,
  defaultLocale: undefined,
  query: { first: '1' },
  params: undefined,
  initURL: 'http://localhost:3000/route?first=1&_rsc=1',
  cacheBustingSearchParam: '1',
  incrementalCache: {},
}

const find = (kind: RouteKind, match: RouteMatch, left: Meta = LEFT): Promise<unknown> =>
  entrypointsOf(SERVER, getMeta)(kind, match, left)

function thrown(): never {
  throw new Error('The session is gone')
}

interface Asking {
  readonly kind?: RouteKind
  readonly server?: object
  readonly meta?: Meta
  readonly headers?: IncomingHttpHeaders
  readonly socket?: object
}

/** Has an entry point called for a request. */
async function call(content: string, asking: Asking, response: object): Promise<void> {
  const { kind = 'route-handler', server, meta, headers, socket } = asking
  const match = matchOf(entrypointFile(content))
  const answer = await entrypointsOf({ ...SERVER, ...server }, getMeta)(kind, match, LEFT)
  const request = {
    url: '/route?a=1',
    headers: { host: 'a.example', ...headers },
    socket: { remoteAddress: '127.0.0.1', ...socket },
    [key]: { invokePath: '/route', invokeQuery: { a: '1' }, match, ...meta },
  }
  await answer!(request as unknown as IncomingMessage, response as ServerResponse)
}

async function called(asking: Asking): Promise<Call> {
  const calls: Call[] = []
  Object.assign(globalThis, { called: calls })
  await call(HANDLER, asking, {})
  expect(calls).toHaveLength(1)
  return calls[0]!
}

describe('an entry point is called', () => {
  it('gets the metadata of its path and of the request', async () => {
    const match = matchOf('', { parts: ['a'] })
    const { context } = await called({ meta: { match } })
    expect(context.waitUntil).toBe('waits until')
    expect(context.requestMeta).toEqual({
      ...OF_PATH,
      invokeQuery: { a: '1' },
      query: { a: '1' },
      match,
      params: { parts: ['a'] },
      initURL: '/route?a=1',
      initQuery: { a: '1' },
      incrementalCache: expect.objectContaining({ host: 'a.example', for: '127.0.0.1', isReset: true }) as unknown,
    })
    const { query, invokeQuery, incrementalCache } = context.requestMeta!
    // Next takes names of its own out of the one, and not out of the other.
    expect(query).not.toBe(invokeQuery)
    expect((globalThis as Meta)['__incrementalCache']).toBe(incrementalCache)
  })

  it.each<[RouteKind, unknown]>([
    ['route-handler', [true, '/route']],
    ['app-page', [true, '/route']],
    ['pages-api', undefined],
    ['pages-page', undefined],
  ])('of the kind %s: it varies as answers of its router do', async (kind, vary) => {
    expect(await called({ kind })).toHaveProperty('vary', vary)
  })

  it.each<[RouteKind, object]>([
    ['pages-page', { a: '1', id: ['2'] }],
    ['app-page', { a: '1' }],
    ['pages-api', { a: '1' }],
    ['route-handler', { a: '1' }],
  ])('of the kind %s, with parameters in its query where that is of pages of the Pages Router', async (kind, query) => {
    const { context } = await called({ kind, meta: { match: matchOf('', { id: ['2'] }) } })
    expect(context.requestMeta).toMatchObject({ query, params: { id: ['2'] } })
  })

  const host = { 'x-forwarded-host': 'a.example', 'x-forwarded-for': '127.0.0.1' }
  it.each<[string, Asking, IncomingHttpHeaders]>([
    ['a port', {}, { ...host, 'x-forwarded-port': '3000', 'x-forwarded-proto': 'http' }],
    ['no port', { server: { port: undefined } }, { ...host, 'x-forwarded-port': '80', 'x-forwarded-proto': 'http' }],
    [
      'no port, by TLS',
      { server: { port: undefined }, socket: { encrypted: true } },
      { ...host, 'x-forwarded-port': '443', 'x-forwarded-proto': 'https' },
    ],
    [
      'TLS before it',
      { server: { port: 0 }, headers: { 'x-forwarded-proto': 'https' } },
      { ...host, 'x-forwarded-port': '443', 'x-forwarded-proto': 'https' },
    ],
    [
      'plain HTTP before it, and TLS here',
      { server: { port: 0 }, headers: { 'x-forwarded-proto': 'http' }, socket: { encrypted: true } },
      { ...host, 'x-forwarded-port': '80', 'x-forwarded-proto': 'http' },
    ],
    [
      'all of it before it',
      {
        headers: {
          'x-forwarded-host': 'b.example',
          'x-forwarded-port': '1',
          'x-forwarded-proto': 'https',
          'x-forwarded-for': '10.0.0.1',
        },
      },
      {
        'x-forwarded-host': 'b.example',
        'x-forwarded-port': '1',
        'x-forwarded-proto': 'https',
        'x-forwarded-for': '10.0.0.1',
      },
    ],
    ['no host', { headers: { host: undefined } }, { 'x-forwarded-host': 'localhost' }],
  ])('and what was forwarded is as the render server leaves it: %s', async (_, asking, expected) => {
    expect((await called(asking)).headers).toMatchObject(expected)
  })
})

describe('an entry point that fails', () => {
  async function failed(kind: RouteKind): Promise<Meta> {
    const response: Meta = {}
    await call('exports.handler = async () => { throw globalThis.theFailure }', { kind }, response)
    return response
  }
  const error = new Error('failed')

  it.each<RouteKind>(['app-page', 'pages-page', 'route-handler'])(
    'has what Next renders for that: %s',
    async (kind) => {
      Object.assign(globalThis, { theFailure: error })
      expect(await failed(kind)).toMatchObject({
        failure: error,
        rendered: {
          path: '/route',
          query: { a: '1' },
          url: { pathname: '/route', query: { a: '1' } },
          isInternal: true,
        },
      })
      // The server itself goes on as before.
      expect(await SERVER.renderPageComponent()).toBe('a page')
    },
  )

  it('of an API has failed, for it has sent its failures by itself', async () => {
    Object.assign(globalThis, { theFailure: error })
    await expect(failed('pages-api')).rejects.toBe(error)
  })
})

describe('the head of a response', () => {
  const heldBack = (kind: RouteKind, socket: object | null): Promise<void> =>
    call('exports.handler = async () => {}', { kind }, { socket })

  it.each<[RouteKind, number]>([
    ['route-handler', 1],
    // Next sends it with the rest.
    ['pages-api', 0],
  ])('waits for what is written in the same turn of the event loop: %s', async (kind, expected) => {
    let corked = 0
    await heldBack(kind, { cork: () => corked++, uncork: () => corked-- })
    expect(corked).toBe(expected)
    await setImmediate()
    expect(corked).toBe(0)
  })

  it.each([
    ['has no socket yet', null],
    ['goes by HTTP/2, whose sockets throw once their session is gone', new Proxy({}, { get: thrown })],
  ])('waits for nothing where the answer %s', async (_, socket) => {
    await expect(heldBack('route-handler', socket)).resolves.toBeUndefined()
    await setImmediate()
  })
})

describe('an entry point is not called', () => {
  it.each<[string, Meta]>([
    ['something that is not known', { ...LEFT, more: false }],
    ['an object for all requests of the path', { ...LEFT, serverComponentsHmrCache: {} }],
    ['nothing for all of them', { ...LEFT, distDir: null }],
  ])('where the render server has left %s', async (_, left) => {
    expect(await find('pages-api', matchOf(entrypointFile(HANDLER)), left)).toBeUndefined()
  })

  it.each<[string, () => unknown]>([
    ['is not named', () => undefined],
    ['has not been loaded', () => entrypointFile(HANDLER, false)],
    ['has no handler', () => entrypointFile('exports.handler = {}')],
    ['exports nothing', () => entrypointFile('module.exports = undefined')],
    [
      'has failed',
      () => entrypointFile('module.exports = Promise.reject(new Error("failed")); module.exports.catch(() => {})'),
    ],
  ])('that %s', async (_, file) => {
    expect(await find('pages-api', matchOf(file()))).toBeUndefined()
  })

  it('and neither is one that was not loaded loaded for that', async () => {
    const file = entrypointFile('globalThis.isLoadedTwice = true', false)
    await find('pages-api', matchOf(file))
    expect(globalThis).not.toHaveProperty('isLoadedTwice')
  })

  it('and one that loads with time is, when it has', async () => {
    const file = entrypointFile(`module.exports = Promise.resolve().then(() => ({ handler: async () => {} }))`)
    expect(await find('pages-api', matchOf(file))).toBeTypeOf('function')
  })

  const methods = Object.entries(SERVER).flatMap(([name, value]) => (typeof value === 'function' ? [name] : []))
  it.each(methods)('by a render server without %s', (name) => {
    expect(() => entrypointsOf({ ...SERVER, [name]: undefined }, getMeta)).toThrow(
      new UnsupportedNextError(`its Next has no function "${name}"`),
    )
  })

  it('with a query that the render server takes something out of', () => {
    const queries = [{}, { a: '1' }, { _rsc: '' }, { _rsc: undefined }]
    expect(queries.map((query) => canSkipRenderServer({ headers: {} }, query))).toEqual([true, true, false, false])
  })

  it('for the router of the App Router', () => {
    const headers = [{}, { host: 'a.example' }, { rsc: '1' }, { 'next-url': '' }]
    expect(headers.map((some) => canSkipRenderServer({ headers: some }, {}))).toEqual([true, true, false, false])
  })
})

it.each([
  ['in the span of the render server', { trace: {} }, '/route'],
  ['without a span, if there is no tracer provider', { diag: {} }, undefined],
])('is called %s', async (_name, registered, spanned) => {
  const place = globalThis as { [key: symbol]: unknown }
  const registry = Symbol.for('opentelemetry.js.api.1')
  onTestFinished(() => void delete place[registry])
  place[registry] = { version: '1.9.0', ...registered }
  const calls: Call[] = []
  Object.assign(globalThis, { called: calls })
  const response: Meta = {}
  await call(HANDLER, {}, response)
  expect([calls.length, response['spanned']]).toEqual([1, spanned])
})
