import { once } from 'node:events'
import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { createServer, type IncomingMessage, type ServerResponse } from 'node:http'
import type { AddressInfo } from 'node:net'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import Fastify, { type FastifyBaseLogger } from 'fastify'
import { createNextOnFastify } from 'next-on-fastify'
import { describe, expect, it, onTestFinished } from 'vitest'
import { createRouterBypass, type RouterBypass } from '../../../src/router-bypass/router-bypass.ts'
import { entrypointFile } from '../../helpers/entrypoint-file.ts'
import { standInApp } from '../../helpers/stand-in.ts'

// What this package does with what Next tells. Next itself is for the tests in test/live.

const FILES = {
  'routes-manifest.json': { redirects: [], headers: [], rewrites: { beforeFiles: [], afterFiles: [], fallback: [] } },
  'prerender-manifest.json': { routes: {}, dynamicRoutes: {} },
  'app-path-routes-manifest.json': {
    '/page': '/',
    '/handler/route': '/handler',
    '/(group)/handlers/[id]/route': '/handlers/[id]',
    '/_not-found/page': '/_not-found',
  },
  'server/middleware-manifest.json': { middleware: {}, functions: {} },
  'server/functions-config-manifest.json': { functions: {} },
  'server/pages-manifest.json': { '/api/a': 'pages/api/a.js', '/_app': 'pages/_app.js', '/ssr': 'pages/ssr.js' },
}
type Files = Partial<Record<keyof typeof FILES, unknown>>

const META = `
const key = Symbol.for('NextInternalRequestMeta')
exports.getRequestMeta = (request) => request[key] ?? {}
exports.setRequestMeta = (request, meta) => (request[key] = meta)
`
const MODULES = {
  'server/config': '',
  'server/request-meta': META,
  'server/pipe-readable': "exports.isAbortError = (error) => error.name === 'AbortError'",
  'compiled/compression':
    "module.exports = () => (request, response, next) => { response.setHeader('x-compressed', 'yes'); next() }",
  'server/lib/release-compression-stream':
    'exports.releaseCompressionStream = () => { globalThis.released = (globalThis.released ?? 0) + 1 }',
}
type Modules = Partial<Record<keyof typeof MODULES, string | undefined>>

/** An app with a build, and a Next that has the modules that are used of it and nothing else. */
function anApp(files: Files = {}, config: object = {}, modules: Modules = {}): string {
  const dir = mkdtempSync(join(tmpdir(), 'next-on-fastify-'))
  onTestFinished(() => rmSync(dir, { recursive: true }))
  const write = (path: string, content: string): void => {
    mkdirSync(join(dir, path, '..'), { recursive: true })
    writeFileSync(join(dir, path), content)
  }
  write('package.json', '{}')
  const loaded = `exports.default = async () => (${JSON.stringify({ distDir: 'build', ...config })})`
  for (const [name, content] of Object.entries({ ...MODULES, 'server/config': loaded, ...modules })) {
    if (content !== undefined) write(`node_modules/next/dist/${name}.js`, content)
  }
  for (const [name, content] of Object.entries({ ...FILES, ...files })) {
    if (content !== undefined) write(join('build', name), JSON.stringify(content))
  }
  return dir
}

type Meta = Record<string, unknown>
type Answer = (request: IncomingMessage, response: ServerResponse) => Promise<void>
type Render = (request: IncomingMessage, response: ServerResponse, meta: Meta) => Promise<void> | void

const key = Symbol.for('NextInternalRequestMeta')
const metaOf = (request: IncomingMessage): Meta => (request as unknown as Record<symbol, Meta>)[key] ?? {}

/** What the router server tells the render server of a request. */
type Route = (path: string, request: IncomingMessage) => Meta | undefined

const atItsPath: Route = (path) => ({ invokePath: path, invokeOutput: path, middlewareInvoke: false })

interface Stage {
  files?: Files
  config?: object
  modules?: Modules
  which?: 'all' | 'handlers'
  route?: Route
  render?: Render
  /** What the render server has of its own. */
  inner?: object
  /** What the router server adds to its answers. */
  headers?: Record<string, string>
}

interface Served {
  readonly direct: RouterBypass
  readonly messages: string[]
  /** How often the router server was asked. */
  routed: number
  /** How often the render server was asked otherwise than by it. */
  asked: number
  /** Asks, and gives the status and the body. */
  ask(path: string, init?: RequestInit): Promise<string>
}

function recorder(): { log: FastifyBaseLogger; messages: string[] } {
  const messages: string[] = []
  const stream = { write: (line: string) => void messages.push((JSON.parse(line) as { msg: string }).msg) }
  return { log: Fastify({ logger: { level: 'warn', stream } }).log, messages }
}

/** Answers with what it was told. */
const telling: Render = (_, response, { clonableBody: __, ...meta }) => {
  response.end(JSON.stringify(meta))
}

async function serve(stage: Stage = {}): Promise<Served> {
  const { files, config, modules, which = 'all', route = atItsPath, render = telling, inner = {}, headers = {} } = stage
  const { log, messages } = recorder()
  const handle = async (request: IncomingMessage, response: ServerResponse): Promise<void> =>
    render(request, response, metaOf(request))
  const next = { server: { getServer: async () => inner, getRequestHandler: () => handle } }
  const asked = (answer: Answer): Answer => {
    return (request, response) => {
      served.asked++
      return answer(request, response)
    }
  }
  const direct = await createRouterBypass(anApp(files, config, modules), next, which, asked, log)
  if (direct === undefined) throw new Error(messages.join())
  const router = async (request: IncomingMessage, response: ServerResponse): Promise<void> => {
    served.routed++
    const meta = route(request.url!.split('?')[0]!, request)
    if (meta === undefined) return void response.end('a file')
    Object.assign(request, { [key]: meta })
    for (const [name, value] of Object.entries(headers)) response.setHeader(name, value)
    await handle(request, response)
  }
  const server = createServer((request, response) => {
    direct.serve(router, request, response).catch((error: unknown) => {
      if (!response.headersSent) response.statusCode = 599
      response.end(String(error))
    })
  })
  server.listen(0)
  await once(server, 'listening')
  onTestFinished(() => {
    server.closeAllConnections()
    server.close()
  })
  const { port } = server.address() as AddressInfo
  const served: Served = {
    direct,
    messages,
    routed: 0,
    asked: 0,
    ask: async (path, init) => {
      const response = await fetch(`http://127.0.0.1:${port}${path}`, init)
      return `${response.status} ${await response.text()}`
    },
  }
  return served
}

/** Asks twice, and says whether the second one went directly. */
async function isDirect(served: Served, path: string, init?: RequestInit): Promise<boolean> {
  const { direct } = served
  await served.ask(path, init)
  const before = direct.stats.bypassed
  await served.ask(path, init)
  return direct.stats.bypassed > before
}

describe('a path goes directly', () => {
  it('after the router has sent its first request to a route, with the same metadata', async () => {
    const told: Meta = { relativeProjectDir: '../web' }
    const served = await serve({
      route: (path, request) => ({ ...atItsPath(path, request), ...told, invokeQuery: {} }),
    })
    const [first, second] = [await served.ask('/handler'), await served.ask('/handler')]
    expect(JSON.parse(second.slice(4))).toEqual(JSON.parse(first.slice(4)))
    expect(served.routed).toBe(1)
    expect(served.direct.stats).toEqual({ bypassed: 1, entrypoints: 0, routed: { first: 1 }, paths: 1 })
  })

  it('with the query of each request', async () => {
    const served = await serve()
    await served.ask('/api/a?b=1')
    expect(JSON.parse((await served.ask('/api/a?b=2&b=3')).slice(4))).toEqual({
      ...atItsPath('/api/a', {} as IncomingMessage),
      invokeQuery: { b: ['2', '3'] },
    })
    expect(served.routed).toBe(1)
  })

  it.each([
    ['all', [true, true, true, true]],
    ['handlers', [true, false, true, false]],
  ] as const)('if it is one of a kind that is wanted: %s', async (which, expected) => {
    const served = await serve({ which })
    const found: boolean[] = []
    for (const path of ['/handler', '/', '/api/a', '/ssr']) {
      found.push(await isDirect(served, path))
    }
    expect(found).toEqual(expected)
  })

  it('of a route with parameters, each path by itself', async () => {
    const served = await serve({
      route: (path) => ({ ...atItsPath(path, {} as IncomingMessage), invokeOutput: '/handlers/[id]' }),
    })
    expect(await isDirect(served, '/handlers/1')).toBe(true)
    await served.ask('/handlers/2')
    expect([served.routed, served.direct.stats.paths]).toEqual([2, 2])
  })

  it('and is compressed if the configuration does not say otherwise', async () => {
    const compressed: (string | null | undefined)[] = []
    const render: Render = (_, response) => {
      compressed.push(response.getHeader('x-compressed') as string | undefined)
      response.end()
    }
    for (const compress of [undefined, false]) {
      expect(await isDirect(await serve({ config: { compress }, render }), '/handler')).toBe(true)
    }
    // The first of each is the router server's.
    expect(compressed).toEqual([undefined, 'yes', undefined, undefined])
  })
})

describe('the router server is asked', () => {
  it.each<[string, string, Meta | undefined]>([
    ['a file', '/handler', undefined],
    ['another path', '/handler', { invokePath: '/other' }],
    ['another route', '/handler', { invokeOutput: '/api/a' }],
    ['no route', '/handler', { invokeOutput: undefined }],
    ['an error', '/handler', { invokeStatus: 404 }],
    ['a proxy', '/handler', { middlewareInvoke: true }],
    ['a route that the build does not know', '/handlers/1', { invokeOutput: '/none/[id]' }],
  ])('again where it has sent a path to %s', async (_, path, meta) => {
    const route: Route = (at, request) => meta && { ...atItsPath(at, request), ...meta }
    expect(await isDirect(await serve({ route }), path)).toBe(false)
  })

  const rules = (more: object): Files => ({ 'routes-manifest.json': { ...FILES['routes-manifest.json'], ...more } })
  const rule = [{ regex: '^/handler(?:/)?$' }]

  it.each<[string, string, Files]>([
    ['rule', 'a redirect', rules({ redirects: rule })],
    ['rule', 'a header', rules({ headers: rule })],
    ['rule', 'a header of later', rules({ onMatchHeaders: rule })],
    ['rule', 'a rewrite', rules({ rewrites: rule })],
    ['rule', 'a rewrite before files', rules({ rewrites: { beforeFiles: rule, afterFiles: [], fallback: [] } })],
    ['rule', 'a rewrite after files', rules({ rewrites: { beforeFiles: [], afterFiles: rule, fallback: [] } })],
    ['rule', 'a rewrite of the rest', rules({ rewrites: { beforeFiles: [], afterFiles: [], fallback: rule } })],
    ['rule', 'a rule that reads case otherwise', rules({ redirects: [{ regex: '^/HANDLER$' }] })],
    [
      'proxy',
      'middleware',
      {
        'server/middleware-manifest.json': { middleware: { '/': { matchers: [{ regexp: '^/hand' }] } }, functions: {} },
      },
    ],
    [
      'proxy',
      'a proxy',
      {
        'server/functions-config-manifest.json': {
          functions: { '/_middleware': { matchers: [{ regexp: '^/hand' }] } },
        },
      },
    ],
    [
      'proxy',
      'a proxy of all paths',
      { 'server/functions-config-manifest.json': { functions: { '/_middleware': {} } } },
    ],
    [
      'prerendered',
      'what was rendered at build',
      { 'prerender-manifest.json': { routes: { '/handler': { srcRoute: '/handler' } }, dynamicRoutes: {} } },
    ],
    [
      'route',
      'two entry points',
      { 'app-path-routes-manifest.json': { '/handler/route': '/handler', '/(b)/handler/page': '/handler' } },
    ],
    [
      'route',
      'a handler for the edge',
      {
        'server/middleware-manifest.json': {
          middleware: {},
          functions: { '/handler/route': { page: '/handler/route' } },
        },
      },
    ],
  ])('each time, for its %s, where there is %s', async (why, _, files) => {
    // Some routes with parameters are there, for which any path could be.
    const served = await serve({ files })
    expect(await isDirect(served, '/handler')).toBe(false)
    expect(served.direct.stats.routed).toMatchObject(why === 'route' ? {} : { [why]: 1, first: 1 })
    expect(served.routed).toBe(2)
  })

  it.each([
    ['/handler', 'prerendered'],
    ['/none', 'route'],
  ])('for %s of an app without parameters, for the reason %s', async (path, reason) => {
    const files = {
      'app-path-routes-manifest.json': { '/page': '/', '/handler/route': '/handler' },
      'prerender-manifest.json': { routes: { '/handler': { srcRoute: '/handler' } }, dynamicRoutes: {} },
    }
    const served = await serve({ files })
    expect(await isDirect(served, path)).toBe(false)
    expect(served.direct.stats.routed).toEqual({ [reason]: 2 })
  })

  it.each<[string, Files]>([
    ['', { 'prerender-manifest.json': { routes: {}, dynamicRoutes: { '/handlers/[id]': {} } } }],
    [
      'once',
      { 'prerender-manifest.json': { routes: { '/handlers/2': { srcRoute: '/handlers/[id]' } }, dynamicRoutes: {} } },
    ],
    [
      'of which it is not told',
      { 'prerender-manifest.json': { routes: { '/handlers/1': { srcRoute: null } }, dynamicRoutes: {} } },
    ],
  ])('for a route with parameters that was rendered at build %s', async (_, files) => {
    const route: Route = (path) => ({ ...atItsPath(path, {} as IncomingMessage), invokeOutput: '/handlers/[id]' })
    expect(await isDirect(await serve({ files, route }), '/handlers/1')).toBe(false)
  })

  it('for a page that is shown within another one', async () => {
    const route: Route = (path) => ({ ...atItsPath(path, {} as IncomingMessage), invokeOutput: '/photos/(.)[id]' })
    const files = {
      'app-path-routes-manifest.json': {
        '/photos/@modal/(.)[id]/page': '/photos/(.)[id]',
        '/photos/[id]/page': '/photos/[id]',
      },
    }
    const served = await serve({ files, route })
    expect(await isDirect(served, '/photos/1')).toBe(false)
    expect(served.direct.stats.routed).toEqual({ first: 1, route: 1 })
  })

  it.each(['x-nextjs-cache', 'x-nextjs-prerender'])('for responses of its cache, by %s', async (name) => {
    const served = await serve({ headers: { [name]: '1' } })
    expect(await isDirect(served, '/handler')).toBe(false)
    expect(served.direct.stats.routed).toEqual({ first: 1, prerendered: 1 })
  })

  it.each<[string, string, RequestInit?]>([
    ['url', '/handlers/%61'],
    ['query', '/handler?__nextLocale=de'],
    ['header', '/handler', { headers: { 'x-middleware-subrequest': 'middleware' } }],
    ['draft', '/handler', { headers: { cookie: '__prerender_bypass=1' } }],
    ['method', '/handler', { method: 'PROPFIND' }],
  ])('for a %s that could decide more: %s', async (why, path, init) => {
    const served = await serve()
    await served.ask('/handler')
    await served.ask(path, init)
    expect(served.direct.stats).toMatchObject({ bypassed: 0, routed: { first: 1, [why]: 1 } })
    // Nothing is learned from it either.
    const other = await serve()
    await other.ask(path, init)
    expect(other.direct.stats.paths).toBe(why === 'query' ? 1 : 0)
  })

  it('for paths at which nothing of the kind can be', async () => {
    const served = await serve({
      files: { 'app-path-routes-manifest.json': undefined },
      which: 'handlers',
    })
    expect(await isDirect(served, '/none')).toBe(false)
    expect(served.direct.stats).toEqual({ bypassed: 0, entrypoints: 0, routed: { route: 2 }, paths: 0 })
    expect(await isDirect(served, '/api/a')).toBe(true)
  })
})

describe('a Next that looks routes up by itself', () => {
  const definition = { kind: 'PAGES', page: '/handlers/[id]/page', pathname: '/handlers/[id]' }
  const match = { definition, params: { id: ['a', 'b'] } }
  const route: Route = (path) => ({
    ...atItsPath(path, {} as IncomingMessage),
    invokeOutput: '/handlers/[id]',
    match: { definition: { ...definition }, params: { id: ['a', 'b'] } },
  })

  it('gets the recorded match, which an app cannot change', async () => {
    const seen: unknown[] = []
    const render: Render = (_, response, { match: told }) => {
      const { params } = told as typeof match
      seen.push([...params.id])
      if (response.hasHeader('x-compressed')) params.id.push('changed')
      response.end()
    }
    const served = await serve({ route, render, inner: { getRouteMatch: () => match } })
    for (let turn = 0; turn < 3; turn++) {
      await served.ask('/handlers/a')
    }
    expect(seen).toEqual([
      ['a', 'b'],
      ['a', 'b'],
      ['a', 'b'],
    ])
    expect(served.routed).toBe(1)
  })

  it.each<[string, unknown]>([
    ['nothing', null],
    ['another route', { ...match, definition: { ...definition, pathname: '/[id]' } }],
    ['another page', { ...match, definition: { ...definition, page: '/other' } }],
    ['another kind', { ...match, definition: { ...definition, kind: 'APP' } }],
    ['other parameters', { ...match, params: { id: 'a' } }],
    ['no parameters', { ...match, params: undefined }],
  ])('and finds %s is not trusted', async (_, found) => {
    const served = await serve({ route, inner: { getRouteMatch: () => found } })
    expect(await isDirect(served, '/handlers/a')).toBe(false)
    expect(served.direct.stats.routed).toEqual({ first: 1, route: 1 })
  })

  it('is not rendered directly without a match of the router', async () => {
    const untold: Route = (path, request) => ({ ...route(path, request), match: undefined })
    const served = await serve({ route: untold, inner: { getRouteMatch: () => match } })
    expect(await isDirect(served, '/handlers/a')).toBe(false)
  })
})

describe('the entry point of a route', () => {
  /** A render server that has what is used to call one, and an app whose build has this one for `/api/a`. */
  async function serveEntrypoint(content: string, stage: Stage = {}): Promise<Served> {
    const filename = entrypointFile(content)
    const definition = { kind: 'PAGES_API', page: '/api/a', pathname: '/api/a', filename }
    const match = { definition, params: undefined }
    const inner = {
      getRouteMatch: () => match,
      normalizeReq: (request: object) => request,
      normalizeRes: (response: object) => response,
      attachRequestMeta: () => {},
      setVaryHeader: () => {},
      getIncrementalCache: async () => ({ resetRequestCache: () => {} }),
      getWaitUntil: () => {},
      render: async () => {},
      renderPageComponent: async () => {},
      handleRequest: async () => {},
      handleRequestImpl: async () => {},
    }
    return serve({ inner, route: (path, request) => ({ ...atItsPath(path, request), match }), ...stage })
  }
  const answering = 'exports.handler = async (_, response) => void response.end("by itself")'
  const byServer: Render = (_, response, { invokeStatus }) => void response.end(`by Next ${String(invokeStatus)}`)

  it('responds, and is counted', async () => {
    const served = await serveEntrypoint(answering, { render: byServer })
    const answers = [await served.ask('/api/a'), await served.ask('/api/a?b=1'), await served.ask('/api/a?_rsc=1')]
    expect(answers).toEqual(['200 by Next undefined', '200 by itself', '200 by Next undefined'])
    expect(served.direct.stats).toMatchObject({ bypassed: 2, entrypoints: 1 })
    // Who watches what Next is asked hears of both.
    expect(served.asked).toBe(2)
    expect(served.messages).toEqual([])
  })

  it('is not run again if it fails, and Next is asked for its error page', async () => {
    const failing = 'exports.handler = async () => { globalThis.failures.count++; throw new Error("failed") }'
    const failures = { count: 0 }
    Object.assign(globalThis, { failures })
    const served = await serveEntrypoint(failing, { render: byServer })
    await served.ask('/api/a')
    expect(await served.ask('/api/a')).toBe('500 by Next 500')
    expect(failures.count).toBe(1)
    expect(served.messages).toEqual(['Next failed'])
  })

  it('is left to a render server that is not known to call it like this, which is said once', async () => {
    const match = { definition: { kind: 'PAGES_API', page: '/api/a', pathname: '/api/a' }, params: undefined }
    const served = await serve({
      inner: { getRouteMatch: () => match },
      route: (path, request) => ({ ...atItsPath(path, request), match }),
    })
    expect(await isDirect(served, '/api/a')).toBe(true)
    expect(served.direct.stats).toMatchObject({ bypassed: 1, entrypoints: 0 })
    expect(served.messages).toEqual(['direct entry points disabled: this Next calls routes in another way'])
  })
})

describe('a render server that fails', () => {
  const failing =
    (error: Error, prepare: (response: ServerResponse) => void = () => {}): Render =>
    (_, response, { invokePath, invokeStatus }) => {
      if (!response.hasHeader('x-compressed')) return void response.end('first')
      if (invokePath === '/500') return void response.end(`page ${String(invokeStatus)}`)
      prepare(response)
      throw error
    }

  it('is asked for its error page, and the route is not run again', async () => {
    const served = await serve({ render: failing(new Error('failed')) })
    await served.ask('/handler')
    expect(await served.ask('/handler')).toBe('500 page 500')
    expect(served.messages).toEqual(['Next failed'])
    expect([served.routed, served.asked]).toEqual([1, 1])
  })

  it('rejects after a part of the response, and leaves the log line to the caller', async () => {
    const served = await serve({ render: failing(new Error('failed'), (response) => void response.write('half ')) })
    await served.ask('/handler')
    expect(await served.ask('/handler')).toBe('200 half Error: failed')
    expect(served.messages).toEqual([])
  })

  it('is left alone when the client has left', async () => {
    const error = Object.assign(new Error('left'), { name: 'AbortError' })
    const served = await serve({ render: failing(error, (response) => void response.end('half')) })
    await served.ask('/handler')
    expect(await served.ask('/handler')).toBe('200 half')
    expect(served.messages).toEqual([])
  })

  it('rejects after the response has begun', async () => {
    const served = await serve({ render: failing(new Error('failed'), (response) => void response.write('half ')) })
    await served.ask('/handler')
    expect(await served.ask('/handler')).toBe('200 half Error: failed')
  })
})

describe('a client that has left', () => {
  const released = globalThis as { released?: number }

  it.each<[string, Modules, number]>([
    ['takes its compression with it', {}, 1],
    ['is not cared about by a Next that does not', { 'server/lib/release-compression-stream': undefined }, 0],
  ])('%s', async (_, modules, expected) => {
    released.released = 0
    const rendering = Promise.withResolvers<ServerResponse>()
    const served = await serve({
      modules,
      render: (__, response) => {
        response.write('half')
        if (response.hasHeader('x-compressed')) rendering.resolve(response)
        else response.end()
      },
    })
    await served.ask('/handler')
    const leaving = new AbortController()
    const asked = served.ask('/handler', { signal: leaving.signal })
    const response = await rendering.promise
    leaving.abort()
    await expect(asked).rejects.toThrow('aborted')
    if (!response.closed) await once(response, 'close')
    expect(released.released).toBe(expected)
  })

  it('before its request got there is not rendered for', async () => {
    let renders = 0
    const served = await serve({ render: (_, response) => void (renders++, response.end()) })
    await served.ask('/handler')
    const response = { closed: true, setHeader: () => {}, on: () => {}, once: () => {} }
    const request = { url: '/handler', method: 'GET', headers: {}, httpVersion: '1.1', on: () => {} }
    await served.direct.serve(
      () => Promise.reject(new Error('routed')),
      request as unknown as IncomingMessage,
      response as unknown as ServerResponse,
    )
    expect([renders, served.direct.stats.bypassed]).toEqual([1, 1])
  })
})

describe('there is no direct path into an app', () => {
  async function whyNot(dir: string, next: object = aNext): Promise<string[]> {
    const { log, messages } = recorder()
    expect(await createRouterBypass(dir, next, 'all', (answer) => answer, log)).toBeUndefined()
    return messages
  }
  const aNext = { server: { getServer: async () => ({}), getRequestHandler: () => () => {} } }

  it.each<[string, object]>([
    ['basePath', { basePath: '/docs' }],
    ['i18n', { i18n: { locales: ['en'], defaultLocale: 'en' } }],
    ['trailingSlash', { trailingSlash: true }],
    ['skipTrailingSlashRedirect', { skipTrailingSlashRedirect: true }],
    ['cacheComponents', { cacheComponents: true }],
    ['output: export', { output: 'export' }],
    ['experimental.ppr', { experimental: { ppr: 'incremental' } }],
    ['experimental.caseSensitiveRoutes', { experimental: { caseSensitiveRoutes: true } }],
  ])('that has %s in its configuration', async (name, config) => {
    expect(await whyNot(anApp({}, config))).toEqual([
      `router bypass disabled for this Next app: its configuration has "${name}"`,
    ])
  })

  const files = Object.keys(FILES) as (keyof typeof FILES)[]
  it.each(files.filter((name) => !name.startsWith('app-')))('whose build has no %s', async (name) => {
    expect(await whyNot(anApp({ [name]: undefined }))).toEqual([
      'router bypass disabled for this Next app: unrecognized build output',
    ])
  })

  it.each(files.filter((name) => !/^app-|pages/.test(name)))('whose build has another %s', async (name) => {
    expect(await whyNot(anApp({ [name]: {} }))).toEqual([
      'router bypass disabled for this Next app: unrecognized build output',
    ])
  })

  it.each<[string, Modules, object]>([
    ['getRequestMeta', { 'server/request-meta': '' }, aNext],
    ['setRequestMeta', { 'server/request-meta': 'exports.getRequestMeta = () => {}' }, aNext],
    ['isAbortError', { 'server/pipe-readable': '' }, aNext],
    ['releaseCompressionStream', { 'server/lib/release-compression-stream': '' }, aNext],
    ['default', { 'server/config': '' }, aNext],
    ['getServer', {}, {}],
    ['getServer', {}, { server: {} }],
    ['getRequestHandler', {}, { server: { getServer: async () => ({}) } }],
    ['getRouteMatch', {}, { server: { ...aNext.server, getServer: async () => ({ getRouteMatch: 1 }) } }],
  ])('whose Next has no %s', async (name, modules, next) => {
    expect(await whyNot(anApp({}, {}, modules), next)).toEqual([
      `router bypass disabled for this Next app: its Next has no function "${name}"`,
    ])
  })

  it('in dev or without the option, and Next responds', async () => {
    const dir = standInApp()
    for (const options of [{ bypassRouter: 'all', dev: true } as const, { bypassRouter: false, dev: false } as const]) {
      const app = await createNextOnFastify({ dir, ...options })
      expect(app.nextStats()?.routerBypass).toBeUndefined()
      expect((await app.inject('/page')).json()).toMatchObject({ url: '/page' })
    }
  })

  it('with an unknown Next, and Next responds', async () => {
    const messages: string[] = []
    const stream = { write: (line: string) => void messages.push((JSON.parse(line) as { msg: string }).msg) }
    const app = await createNextOnFastify({
      dir: standInApp(),
      dev: false,
      bypassRouter: 'all',
      fastify: { logger: { level: 'warn', stream } },
    })
    expect(messages).toEqual([expect.stringMatching(/^router bypass disabled for this Next app: (its|unrecognized) /)])
    expect((await app.inject('/page')).json()).toMatchObject({ url: '/page' })
  })
})
