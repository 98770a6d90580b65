import { createServer, IncomingMessage, request as httpRequest, ServerResponse } from 'node:http'
import { once } from 'node:events'
import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { createRequire } from 'node:module'
import { Socket, type AddressInfo } from 'node:net'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { text } from 'node:stream/consumers'
import Fastify from 'fastify'
import { describe, expect, it, onTestFinished } from 'vitest'
import { type AddedHeaders, watch, watchRenders } from '../../../src/next/middleware/render-hook.ts'
import type { Build } from '../../../src/next/build/cacheable-build.ts'
import type { MiddlewareResult } from '../../../src/next/middleware/early-middleware.ts'
import { ResponseCache } from '../../../src/response-cache/response-cache.ts'
import { cacheLimits } from '../../helpers/cache-limits.ts'
import { observedHandler } from '../../../src/next/page-cache/observed-cache-handler.ts'

type Handle = (request: IncomingMessage, response: ServerResponse) => Promise<void>

const silent = Fastify().log

/** What a request is for, as Next notes it. */
const invokes = new WeakSet<IncomingMessage>()

const REQUEST_META = `exports.getRequestMeta = (request, name) => name === 'middlewareInvoke' && globalThis.invokes.has(request)`
const RENDER_SERVER = `
  exports.servers = {}
  exports.initialize = async ({ dir }) => exports.servers[dir]
  exports.getServerField = async (dir) => {
    if (!(dir in exports.servers)) throw new Error('no app initialized')
  }`

/** Folder of an app whose Next renders by the handler. */
function aNext(handle: unknown, renderServer = RENDER_SERVER): { dir: string; ask: Handle } {
  const dir = mkdtempSync(join(tmpdir(), 'next-on-fastify-'))
  onTestFinished(() => rmSync(dir, { recursive: true }))
  Object.assign(globalThis, { invokes })
  for (const [name, content] of [
    ['request-meta', REQUEST_META],
    ['lib/render-server', renderServer],
  ] as const) {
    const file = join(dir, 'node_modules/next/dist/server', `${name}.js`)
    mkdirSync(join(file, '..'), { recursive: true })
    writeFileSync(file, content)
  }
  writeFileSync(join(dir, 'package.json'), '{}')
  const module = createRequire(join(dir, 'package.json'))('next/dist/server/lib/render-server') as {
    servers?: Record<string, { requestHandler: Handle }>
  }
  if (module.servers && handle !== undefined) module.servers[dir] = { requestHandler: handle as Handle }
  return { dir, ask: (...asked) => module.servers![dir]!.requestHandler(...asked) }
}

const next = (init: ResponseInit = {}): Response => {
  const headers = new Headers(init.headers)
  headers.set('x-middleware-next', '1')
  return new Response(null, { ...init, headers })
}

function anExchange(): [IncomingMessage, ServerResponse] {
  const request = new IncomingMessage(new Socket())
  return [request, new ServerResponse(request)]
}

describe('a decision of middleware', () => {
  it.each<[string, unknown, AddedHeaders | undefined]>([
    ['to go on', next(), {}],
    ['to go on with a header of the answer', next({ headers: { 'x-a': '1' } }), { 'x-a': '1' }],
    ['to change the request', next({ headers: { 'x-middleware-override-headers': 'a' } }), undefined],
    ['to set a cookie that the page sees', next({ headers: { 'x-middleware-set-cookie': 'a=b' } }), undefined],
    ['to rewrite', new Response(null, { headers: { 'x-middleware-rewrite': '/a' } }), undefined],
    ['to rewrite and go on', next({ headers: { 'x-middleware-rewrite': '/a' } }), undefined],
    ['to redirect', new Response(null, { status: 307, headers: { location: '/a' } }), undefined],
    ['to go on elsewhere', next({ headers: { location: '/a' } }), undefined],
    ['another status', next({ status: 201 }), undefined],
    ['to answer', new Response('no'), undefined],
    ['to answer nothing', new Response(null), undefined],
    ['nothing that is known', undefined, undefined],
  ])('%s', async (_, response, additions) => {
    const { dir, ask } = aNext(async (request: IncomingMessage) => {
      if (invokes.has(request)) throw Object.assign(new Error('decided'), { result: { response } })
    })
    await watchRenders(dir, silent)
    const [request, answer] = anExchange()
    const seen: unknown[] = []
    watch(request, {
      afterMiddleware: () => undefined,
      beforeRender: async (found, render) => {
        seen.push(found)
        await render()
      },
    })
    invokes.add(request)
    await expect(ask(request, answer)).rejects.toThrow('decided')
    expect(seen).toEqual([])
    invokes.delete(request)
    await ask(request, answer)
    // What is not found is rendered again, as something else.
    await ask(request, answer)
    expect(seen).toEqual([additions])
  })

  it('is not known where none was asked', async () => {
    const { dir, ask } = aNext(async () => {})
    await watchRenders(dir, silent)
    const [request, answer] = anExchange()
    const seen: unknown[] = []
    watch(request, { afterMiddleware: () => undefined, beforeRender: async (found) => void seen.push(found) })
    invokes.add(request)
    await ask(request, answer)
    invokes.delete(request)
    await ask(request, answer)
    expect(seen).toEqual([undefined])
  })
})

it('requests that nobody watches are rendered, however often their app is watched', async () => {
  const rendered: unknown[] = []
  const { dir, ask } = aNext(async (...asked: unknown[]) => void rendered.push(asked))
  await watchRenders(dir, silent)
  await watchRenders(dir, silent)
  const exchange = anExchange()
  await ask(...exchange)
  expect(rendered).toEqual([[...exchange, undefined]])
})

describe('nothing is cached behind middleware of a Next', () => {
  it.each([
    ['that has no render server', 'its Next has no render server that can be watched', undefined, ''],
    ['that has not been prepared', 'no app initialized', undefined, RENDER_SERVER],
    ['that renders in another way', 'its Next renders in another way', {}, RENDER_SERVER],
  ])('%s', async (_, why, handle, renderServer) => {
    await expect(watchRenders(aNext(handle, renderServer).dir, silent)).rejects.toThrow(why)
  })
})

it('logs that middleware runs in the router of an unknown Next', async () => {
  const messages: string[] = []
  const stream = { write: (line: string) => void messages.push((JSON.parse(line) as { msg: string }).msg) }
  const { log } = Fastify({ logger: { level: 'warn', stream } })
  expect(await watchRenders(aNext(async () => {}).dir, log)).toBeUndefined()
  expect(messages).toEqual(["middleware runs in Next's router: this Next runs it in another way"])
})

describe('behind middleware', () => {
  const Handler = observedHandler(
    class {
      async get(): Promise<object> {
        const value = { kind: 'APP_PAGE' }
        return { lastModified: Date.now(), cacheControl: { revalidate: 3600 }, value }
      }
      async set(): Promise<void> {}
      async revalidateTag(): Promise<void> {}
    },
  )
  const handler = new Handler({})

  interface Asked {
    /** Whether the proxy fails when it runs before Next is asked. */
    fails?: boolean
    /** Headers that the proxy adds; it answers 401 where there are none. */
    added?: Record<string, string>
    headers?: Record<string, string>
    /** What is rendered, if not the page. */
    render?: Handle
    /** Rendering ends after this. */
    takes?: Promise<void>
    /** What is set before Next is asked. */
    hook?: (response: ServerResponse) => void
    /** What the router does to an answer after the proxy, beside what that has added. */
    route?: (response: ServerResponse) => void
  }

  interface Served {
    readonly memory: ResponseCache
    readonly ask: (asked: Asked) => Promise<string>
    /** Names and values in turn. */
    readonly headOf: (asked: Asked) => Promise<string[]>
    renders: number
    /** How often Next has looked for what comes after the proxy. */
    routed: number
    /** How often the proxy has run before Next was asked. */
    early: number
  }

  /** Serves one page behind a proxy, as Next does, with a memory before it. */
  async function serve({ isEarly = false, isAlwaysProxied = true } = {}): Promise<Served> {
    let asked: Asked = {}
    const decided = (): MiddlewareResult => ({
      response: asked.added ? next({ headers: asked.added }) : new Response('Who are you?', { status: 401 }),
    })
    const earlyProxy = async (): Promise<MiddlewareResult | undefined> => {
      served.early++
      return asked.fails ? undefined : decided()
    }
    const page: Handle = async (_, response) => {
      await handler.get('/page', { kind: 'APP_PAGE' })
      served.renders++
      await asked.takes
      response.setHeader('x-nextjs-cache', 'HIT')
      if (!response.hasHeader('cache-control')) response.setHeader('cache-control', 's-maxage=3600')
      response.end('the page')
    }
    const { dir, ask } = aNext(async (request: IncomingMessage, response: ServerResponse) => {
      if (!invokes.has(request)) return (asked.render ?? page)(request, response)
      throw Object.assign(new Error(), { result: decided() })
    })
    await watchRenders(dir, silent)
    const router: Handle = async (request, response) => {
      invokes.add(request)
      await ask(request, response).catch(() => {})
      invokes.delete(request)
      if (response.writableEnded) return
      served.routed++
      if (asked.added === undefined) {
        response.writeHead(401).end('Who are you?')
        return
      }
      for (const [name, value] of Object.entries(asked.added)) {
        response.setHeader(name, value)
        request.headers[name] = value
      }
      asked.route?.(response)
      // As compression does.
      const end = response.end.bind(response) as (body: unknown) => ServerResponse
      Object.assign(response, { end: (body: unknown) => end(`[${String(body)}]`) })
      await ask(request, response).catch(() => ask(request, response))
    }
    const build: Build = {
      dir,
      distDir: dir,
      isConditional: () => false,
      coveringRules: [],
      isBot: () => false,
      isProxied: () => true,
      isAlwaysProxied: () => isAlwaysProxied,
      lifetimeOf: () => undefined,
      fileOf: () => undefined,
      isMade: () => false,
      staticPage: () => undefined,
      etagOf: () => '',
    }
    const memory = new ResponseCache(build, cacheLimits({ cacheStatus: true }), {
      runEarly: isEarly ? earlyProxy : undefined,
    })
    const server = createServer((request, response) => {
      asked.hook?.(response)
      void memory.serve(router, request, response)
    })
    server.listen(0)
    await once(server, 'listening')
    onTestFinished(() => {
      memory.close()
      server.closeAllConnections()
      server.close()
    })
    const { port } = server.address() as AddressInfo
    const served: Served = {
      memory,
      renders: 0,
      routed: 0,
      early: 0,
      ask: async (question) => {
        asked = question
        const sent = httpRequest({ port, headers: { host: 'a', ...question.headers } }).end()
        const [response] = (await once(sent, 'response')) as [IncomingMessage]
        const { 'cache-status': status, 'cache-control': lifetime, 'x-a': own } = response.headers
        return [status?.toString().replace('next-on-fastify; ', ''), lifetime, own, await text(response)]
          .filter((part) => part !== undefined)
          .join(' | ')
      },
      headOf: async (question) => {
        asked = question
        const sent = httpRequest({ port, headers: { host: 'a' } }).end()
        const [response] = (await once(sent, 'response')) as [IncomingMessage]
        response.resume()
        return response.rawHeaders
      },
    }
    return served
  }

  it('renders a page once, and sends the headers of middleware for each request', async () => {
    const served = await serve()
    const answers = [
      await served.ask({ added: { 'x-a': '1' } }),
      await served.ask({ added: { 'x-a': '2' } }),
      await served.ask({ added: { 'x-a': '3' } }),
    ]
    expect(answers).toEqual([
      'fwd=miss; stored | s-maxage=3600 | 1 | [the page]',
      'hit | s-maxage=3600 | 2 | [the page]',
      'hit | s-maxage=3600 | 3 | [the page]',
    ])
    expect([served.renders, served.memory.stats.hits]).toEqual([1, 2])
    // The router had nothing more to say.
    expect(served.routed).toBe(1)
  })

  it.each([
    ['when Next has run it', false, 0],
    ['when it was run before Next is asked, as Next has come to it before', true, 2],
  ])('what the router sets after the proxy is in each answer, in its place, %s', async (_, isEarly, early) => {
    const served = await serve({ isEarly })
    const route = (response: ServerResponse): void => void response.setHeader('X-Of-Router', 'b')
    const heads: string[][] = []
    for (const value of ['1', '2', '3']) heads.push(await served.headOf({ added: { 'x-a': value }, route }))
    const cached = ['x-nextjs-cache', 'HIT', 'cache-control', 's-maxage=3600']
    expect(heads.map((head) => head.slice(0, 8))).toEqual([
      ['x-a', '1', 'X-Of-Router', 'b', ...cached],
      ['x-a', '2', 'X-Of-Router', 'b', ...cached],
      ['x-a', '3', 'X-Of-Router', 'b', ...cached],
    ])
    expect(heads.map((head) => head[head.indexOf('Cache-Status') + 1])).toEqual([
      'next-on-fastify; fwd=miss; stored',
      'next-on-fastify; hit',
      'next-on-fastify; hit',
    ])
    expect([served.routed, served.early]).toEqual([1, early])
    expect(served.memory.stats).toMatchObject({ hits: 2, earlyMiddleware: early, bypasses: {} })
  })

  it.each<[string, Asked]>([
    [
      'leaves out what the proxy has added',
      { added: { 'x-a': '1' }, route: (response) => response.removeHeader('x-a') },
    ],
    [
      'changes what the proxy has added',
      { added: { 'x-a': '1' }, route: (response) => response.setHeader('x-a', '2') },
    ],
    ['gives several values', { added: {}, route: (response) => response.setHeader('x-a', ['1', '2']) }],
    [
      'changes what was there before',
      {
        added: {},
        hook: (response) => response.setHeader('x-a', '1'),
        route: (response) => response.setHeader('x-a', '2'),
      },
    ],
    ['was told another status', { added: {}, hook: (response) => (response.statusCode = 201) }],
  ])('the router is asked each time where it %s', async (_, asked) => {
    const served = await serve()
    for (let turn = 0; turn < 3; turn++) await served.ask(asked)
    expect(served.routed).toBe(3)
  })

  it('the router runs if middleware adds other headers', async () => {
    const served = await serve()
    const routed: number[] = []
    const ask = async (asked: Asked): Promise<void> => {
      await served.ask(asked)
      routed.push(served.routed)
    }
    await ask({ added: {} })
    await ask({ added: { 'x-a': '1' } })
    await ask({ added: { 'x-a': '' } })
    await ask({ added: { 'x-a': '2', 'x-b': '1' } })
    await ask({ added: {}, hook: (response) => response.setHeader('x-b', '1') })
    await ask({ added: {}, headers: { 'x-forwarded-host': 'b' } })
    expect(routed).toEqual([1, 2, 3, 4, 5, 6])
  })

  it('Next responds if early middleware decides otherwise, fails, or nothing is cached', async () => {
    const served = await serve({ isEarly: true })
    const answers: string[] = []
    for (const asked of [{ added: {} }, {}, { added: {}, fails: true }, { added: { rsc: '1' } }, { added: {} }]) {
      answers.push(await served.ask(asked))
    }
    await handler.set('/page', { kind: 'APP_PAGE' }, {})
    answers.push(await served.ask({ added: {} }))
    expect(answers).toEqual([
      'fwd=miss; stored | s-maxage=3600 | [the page]',
      'fwd=bypass; detail=proxy | Who are you?',
      'hit | s-maxage=3600 | [the page]',
      'fwd=bypass; detail=proxy | s-maxage=3600 | [the page]',
      'hit | s-maxage=3600 | [the page]',
      'fwd=miss; stored | s-maxage=3600 | [the page]',
    ])
    expect([served.early, served.memory.stats.earlyMiddleware]).toEqual([5, 4])
  })

  it('middleware does not run early if it may not see all requests of a path', async () => {
    const served = await serve({ isEarly: true, isAlwaysProxied: false })
    for (let turn = 0; turn < 3; turn++) await served.ask({ added: {} })
    expect([served.early, served.memory.stats.hits]).toEqual([0, 2])
  })

  it('of the ways by which the router may be passed for one request, the last four are known', async () => {
    const served = await serve()
    const routed = async (name: string): Promise<number> => {
      const before = served.routed
      await served.ask({ added: { [name]: '1' } })
      return served.routed - before
    }
    const ways = ['x-1', 'x-2', 'x-3', 'x-4']
    for (const name of ways) expect(await routed(name)).toBe(1)
    for (const name of ways) expect(await routed(name)).toBe(0)
    expect([await routed('x-5'), await routed('x-4'), await routed('x-1')]).toEqual([1, 0, 1])
  })

  it('renders once for concurrent requests if the page was cached before', async () => {
    const served = await serve()
    await served.ask({ added: { 'x-a': '1' } })
    await handler.set('/page', { kind: 'APP_PAGE' }, {})
    const { promise, resolve } = Promise.withResolvers<void>()
    let arrivals = 0
    const hook = (): void => {
      if (++arrivals === 5) setImmediate(resolve)
    }
    const asked = { added: { 'x-a': '2' }, takes: promise, hook }
    const answers = await Promise.all(Array.from({ length: 5 }, () => served.ask(asked)))
    const others = Array.from({ length: 4 }, () => 'fwd=miss; collapsed | s-maxage=3600 | 2 | [the page]')
    expect(answers.toSorted()).toEqual([...others, 'fwd=miss; stored | s-maxage=3600 | 2 | [the page]'])
    expect([served.renders, served.memory.stats]).toMatchObject([2, { hits: 4, misses: 2 }])
  })

  it('middleware keeps clients from a cached page', async () => {
    const served = await serve()
    await served.ask({ added: {} })
    expect(await served.ask({})).toBe('fwd=bypass; detail=proxy | Who are you?')
    expect(await served.ask({ added: {} })).toContain('hit')
    expect(served.memory.stats.bypasses).toEqual({ proxy: 1 })
  })

  it('caches a response separately if a header of middleware replaces one of Next', async () => {
    const served = await serve()
    const answers: string[] = []
    for (const added of [{}, { 'cache-control': 'private' }, {}, { 'cache-control': 'private' }] as const) {
      answers.push(await served.ask({ added }))
    }
    expect(answers).toEqual([
      'fwd=miss; stored | s-maxage=3600 | [the page]',
      'fwd=miss; stored | private | [the page]',
      'hit | s-maxage=3600 | [the page]',
      'hit | private | [the page]',
    ])
  })

  it.each([
    ['cookie', '__prerender_bypass=x'],
    ['host', 'b'],
    ['rsc', '1'],
    ['if-none-match', '"a"'],
  ])(
    'a header %s that the proxy adds, and Next takes for one of the request, has the page rendered',
    async (name, value) => {
      const served = await serve()
      await served.ask({ added: {} })
      await served.ask({ added: { [name]: value } })
      await served.ask({ added: { [name]: value } })
      expect([served.renders, served.memory.stats.bypasses]).toEqual([3, { proxy: 2 }])
    },
  )

  it('does not cache a page that Next looks for and misses', async () => {
    const served = await serve()
    let tries = 0
    const render: Handle = async (_, response) => {
      await handler.get('/page', { kind: 'APP_PAGE' })
      if (++tries % 2 === 1) throw new Error('no page')
      response.setHeader('x-nextjs-cache', 'HIT').end('another page')
    }
    for (let turn = 0; turn < 2; turn++) expect(await served.ask({ added: {}, render })).toContain('another page')
    expect(served.memory.stats).toMatchObject({ hits: 0, entries: 0, notStored: { failed: 2 } })
  })
})
