import type { IncomingHttpHeaders, IncomingMessage, ServerResponse } from 'node:http'
import { describe, expect, it } from 'vitest'
import {
  type EarlyMiddleware,
  earlyMiddlewareOf,
  type MiddlewareResult,
} from '../../../src/next/middleware/early-middleware.ts'
import { UnsupportedNextError } from '../../../src/next/internals.ts'

// What a proxy sees when it is run like this is asked of Next itself in test/live.

interface Params {
  readonly request: { readonly headers: IncomingHttpHeaders }
  readonly parsed: unknown
}

const key = Symbol('meta')
const getRequestMeta = (request: object): object => (request as { [key]?: object })[key] ?? {}
const setRequestMeta = (request: object, meta: object): unknown => Object.assign(request, { [key]: meta })
const meta = { getRequestMeta, setRequestMeta }

const PASSED: MiddlewareResult = { response: new Response(null, { headers: { 'x-middleware-next': '1' } }) }

/** A render server whose proxy comes to this, and what it was called with. */
function aServer(result: () => MiddlewareResult = () => PASSED, own: object = {}): Server {
  const calls: Params[] = []
  const server = {
    normalizeReq: (request: object) => ({ headers: {}, [key]: getRequestMeta(request) }),
    normalizeRes: (response: ServerResponse) => ({ originalResponse: response }),
    attachRequestMeta: () => {},
    getIncrementalCache: async () => ({ resetRequestCache: () => {} }),
    runMiddleware: async (params: Params) => {
      calls.push(params)
      return result()
    },
    loads: 0,
    async loadNodeMiddleware(this: { loads: number }) {
      return ++this.loads
    },
    manifests: 0,
    getMiddlewareManifest(this: { manifests: number }) {
      return { of: ++this.manifests }
    },
    ...own,
  }
  const byNext = (request: object): Promise<MiddlewareResult> =>
    server.runMiddleware({ request: server.normalizeReq(request), parsed: undefined })
  return { calls, server, byNext }
}

interface Server {
  readonly calls: readonly Params[]
  readonly server: Record<string, unknown>
  /** As Next's router has the proxy run. */
  readonly byNext: (request: IncomingMessage) => Promise<MiddlewareResult>
}

function aRequest(url = '/page?a=1', headers: IncomingHttpHeaders = {}): IncomingMessage {
  return { url, headers: { host: 'a.example', ...headers }, socket: { remoteAddress: '127.0.0.1' } } as IncomingMessage
}

const run = (proxy: EarlyMiddleware, request: IncomingMessage): Promise<MiddlewareResult | undefined> =>
  proxy(request, {} as ServerResponse)

describe('middleware before the router', () => {
  it('runs once, and Next gets its result', async () => {
    const { calls, server, byNext } = aServer()
    const proxy = earlyMiddlewareOf(server, meta)
    const request = aRequest()
    expect([await run(proxy, request), await byNext(request)]).toEqual([PASSED, PASSED])
    expect(calls).toHaveLength(1)
    expect(calls[0]?.parsed).toEqual({ pathname: '/page', query: { a: '1' } })
    // What is not found is looked for again.
    await byNext(request)
    expect(calls).toHaveLength(2)
  })

  it('is run as ever for others', async () => {
    const { calls, server, byNext } = aServer()
    const proxy = earlyMiddlewareOf(server, meta)
    await run(proxy, aRequest())
    await byNext(aRequest())
    expect(calls).toHaveLength(2)
  })

  it('that fails fails when Next comes to it, and is not run again', async () => {
    const { calls, server, byNext } = aServer(() => {
      throw new Error('Thrown by the proxy')
    })
    const proxy = earlyMiddlewareOf(server, meta)
    const request = aRequest()
    expect(await run(proxy, request)).toBeUndefined()
    await expect(byNext(request)).rejects.toThrow('Thrown by the proxy')
    expect(calls).toHaveLength(1)
  })

  it("is seen with headers of the render server's that Next's router does not see", async () => {
    const { calls, server } = aServer(undefined, { hostname: 'localhost', port: 3000 })
    const request = aRequest()
    await run(earlyMiddlewareOf(server, meta), request)
    expect(calls[0]?.request.headers).toEqual({
      host: 'a.example',
      'x-forwarded-host': 'a.example',
      'x-forwarded-port': '3000',
      'x-forwarded-proto': 'http',
      'x-forwarded-for': '127.0.0.1',
    })
    expect(request.headers).toEqual({ host: 'a.example' })
  })

  it.each<[string, string, IncomingHttpHeaders]>([
    ['a path that may be read in two ways', '/a%2fb', {}],
    ["a path of Next's own", '/_next/data/id/page.json', {}],
    ['a query that may be read in two ways', '/page?a=%ff', {}],
    ['the router of the App Router', '/page', { rsc: '1' }],
    ['a part of the App Router that is not to be kept', '/page?_rsc=1', {}],
  ])('is left to Next with %s', async (_, url, headers) => {
    const { calls, server } = aServer()
    const request = aRequest(url, headers)
    expect(await run(earlyMiddlewareOf(server, meta), request)).toBeUndefined()
    expect([calls, key in request]).toEqual([[], false])
  })

  it('is left to Next where its server fails before, or would not know the request again', async () => {
    const failing = aServer(undefined, { getIncrementalCache: async () => Promise.reject(new Error('no cache')) })
    const other = aServer(undefined, { normalizeReq: () => ({ headers: {} }) })
    for (const { calls, server } of [failing, other]) {
      expect(await run(earlyMiddlewareOf(server, meta), aRequest())).toBeUndefined()
      expect(calls).toEqual([])
    }
  })
})

it('loads modules once that Next loads for each request', async () => {
  const { server } = aServer()
  earlyMiddlewareOf(server, meta)
  const { loadNodeMiddleware, getMiddlewareManifest } = server as Record<string, () => unknown>
  expect([await loadNodeMiddleware!(), await loadNodeMiddleware!()]).toEqual([1, 1])
  expect([getMiddlewareManifest!(), getMiddlewareManifest!()]).toEqual([{ of: 1 }, { of: 1 }])
})

it('loads a module again after a failure', async () => {
  let loads = 0
  const loadNodeMiddleware = async (): Promise<string> => {
    if (++loads === 1) throw new Error('not yet')
    return 'the proxy'
  }
  const { server } = aServer(undefined, { loadNodeMiddleware })
  earlyMiddlewareOf(server, meta)
  const load = server['loadNodeMiddleware'] as () => Promise<unknown>
  await expect(load()).rejects.toThrow('not yet')
  expect(await load()).toBe('the proxy')
})

it('throws for a Next with another store of request metadata', () => {
  const { server } = aServer()
  const before = { ...server }
  expect(() => earlyMiddlewareOf(server, { getRequestMeta } as typeof meta)).toThrow(
    new UnsupportedNextError('its Next has no function "setRequestMeta"'),
  )
  expect(server).toEqual(before)
})

it.each([
  'normalizeReq',
  'normalizeRes',
  'attachRequestMeta',
  'getIncrementalCache',
  'runMiddleware',
  'loadNodeMiddleware',
  'getMiddlewareManifest',
])('a server without %s has none, and is left as it is', (name) => {
  const { server } = aServer(undefined, { [name]: undefined })
  const before = { ...server }
  expect(() => earlyMiddlewareOf(server, meta)).toThrow(new UnsupportedNextError(`its Next has no function "${name}"`))
  expect(server).toEqual(before)
})
