// What plugins of Fastify do over Next's responses, in whatever order they are registered: the table of the README.

import basicAuth from '@fastify/basic-auth'
import compress from '@fastify/compress'
import cookie from '@fastify/cookie'
import cors from '@fastify/cors'
import csrfProtection from '@fastify/csrf-protection'
import etag from '@fastify/etag'
import helmet from '@fastify/helmet'
import jwt from '@fastify/jwt'
import { FastifyOtelInstrumentation } from '@fastify/otel'
import rateLimit from '@fastify/rate-limit'
import requestContext from '@fastify/request-context'
import session from '@fastify/session'
import underPressure from '@fastify/under-pressure'
import { InMemorySpanExporter, SimpleSpanProcessor, TracerProvider } from '@opentelemetry/sdk-trace'
import Fastify, { type FastifyInstance } from 'fastify'
import { createNextOnFastify, nextPlugin, routableUrl } from 'next-on-fastify'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { BUILD_TIMEOUT, builtFixture } from '../helpers/built-fixture.ts'
import { type Answer, ask } from '../helpers/two-servers.ts'

declare module 'fastify' {
  interface Session {
    visits?: number
  }
}

/** What is asked for, and what shows that it is that. */
const TARGETS = {
  page: ['/ssr', 200, '<h1>SSR</h1>'],
  'cached page': ['/old/static', 200, '<h1>'],
  file: ['/hello.txt', 200, 'hello'],
  '404': ['/none', 404, 'Not'],
  'own route': ['/own', 200, 'own '],
} as const
type Target = keyof typeof TARGETS

type Headers = Record<string, string>

interface Plugin {
  register(app: FastifyInstance): PromiseLike<unknown>
  /** Adds the hooks by which an app uses the plugin. */
  use?(app: FastifyInstance): void
}

/** What a plugin does. */
interface Case extends Plugin {
  /** Headers by which a request is let in. */
  headers?(app: FastifyInstance): Headers | Promise<Headers>
  /** What the plugin has done to a response. */
  effect(answer: Answer, app: FastifyInstance, path: string): unknown
  expected: unknown
  /** Where something else is expected. */
  except?: Partial<Record<Target, unknown>>
  /** The status without these headers, where requests are kept out. */
  outside?: number
}

const header = ({ head }: Answer, wanted: string): string | undefined =>
  head.find(([name]) => name.toLowerCase() === wanted)?.[1]
const cookies = ({ head }: Answer): string =>
  head.flatMap(([name, value]) => (name.toLowerCase() === 'set-cookie' ? [value.split(';', 1)[0]!] : [])).join()

const SECRET = 'a secret of at least thirty-two characters'

const spans = new InMemorySpanExporter()
const tracing = new FastifyOtelInstrumentation()
tracing.setTracerProvider(new TracerProvider({ spanProcessors: [new SimpleSpanProcessor({ exporter: spans })] }))

const CASES: Readonly<Record<string, Case>> = {
  'rate-limit': {
    register: (app) => app.register(rateLimit, { max: 1000 }),
    effect: (answer) => header(answer, 'x-ratelimit-limit'),
    expected: '1000',
  },
  cors: {
    register: (app) => app.register(cors, { origin: 'https://a.example' }),
    effect: (answer) => header(answer, 'access-control-allow-origin'),
    expected: 'https://a.example',
  },
  helmet: {
    register: (app) => app.register(helmet),
    effect: (answer) => header(answer, 'x-dns-prefetch-control'),
    expected: 'off',
  },
  // Next compresses by itself, and knows gzip and deflate; small files it sends as they are.
  compress: {
    register: (app) => app.register(compress, { threshold: 1 }),
    headers: () => ({ 'accept-encoding': 'br, gzip' }),
    effect: (answer) => header(answer, 'content-encoding'),
    expected: 'gzip',
    except: { 'own route': 'br', file: undefined },
  },
  cookie: {
    register: (app) => app.register(cookie),
    use: (app) => {
      app.addHook('onRequest', async (request, reply) => void reply.setCookie('seen', request.cookies['a'] ?? ''))
    },
    headers: () => ({ cookie: 'a=1' }),
    effect: cookies,
    expected: 'seen=1',
  },
  session: {
    register: async (app) => {
      await app.register(cookie)
      await app.register(session, { secret: SECRET, cookie: { secure: false } })
    },
    use: (app) => {
      app.addHook('preHandler', async (request, reply) => {
        request.session.visits = (request.session.visits ?? 0) + 1
        reply.header('x-visits', request.session.visits)
      })
    },
    // A session that one response has begun is there for the next request.
    effect: async (answer, app, path) =>
      header(await ask(app, { path, headers: { cookie: cookies(answer) } }), 'x-visits'),
    expected: '2',
  },
  jwt: {
    register: (app) => app.register(jwt, { secret: SECRET }),
    use: (app) => app.addHook('onRequest', async (request) => void (await request.jwtVerify())),
    headers: (app) => ({ authorization: `Bearer ${app.jwt.sign({})}` }),
    effect: ({ status }) => status,
    expected: 200,
    except: { '404': 404 },
    outside: 401,
  },
  'csrf-protection': {
    register: async (app) => {
      await app.register(cookie)
      await app.register(csrfProtection)
    },
    use: (app) => {
      app.get('/token', async (_request, reply) => reply.generateCsrf())
      app.addHook('preHandler', (request, reply, done) => {
        if (request.url === '/token') done()
        else app.csrfProtection(request, reply, done)
      })
    },
    headers: async (app) => {
      const answer = await ask(app, { path: '/token' })
      return { cookie: cookies(answer), 'csrf-token': answer.body }
    },
    effect: ({ status }) => status,
    expected: 200,
    except: { '404': 404 },
    outside: 403,
  },
  'basic-auth': {
    register: (app) => app.register(basicAuth, { validate: async () => undefined, authenticate: true }),
    use: (app) => app.addHook('onRequest', (request, reply, done) => app.basicAuth(request, reply, done)),
    headers: () => ({ authorization: `Basic ${Buffer.from('me:secret').toString('base64')}` }),
    effect: ({ status }) => status,
    expected: 200,
    except: { '404': 404 },
    outside: 401,
  },
  // Next sets tags of its own, of what it does not stream.
  etag: {
    register: (app) => app.register(etag, { hashFn: () => 'own' }),
    effect: (answer) => {
      const tag = header(answer, 'etag')
      return tag === '"own"' ? 'of the plugin' : tag && 'of Next'
    },
    expected: 'of Next',
    except: { page: undefined, '404': 'of Next', 'own route': 'of the plugin' },
  },
  'request-context': {
    register: (app) => app.register(requestContext, { defaultStoreValues: (request) => ({ id: request.id }) }),
    use: (app) => {
      app.addHook('onSend', async (request, reply) => {
        reply.header('x-context', String(request.requestContext.get('id' as never) === request.id))
      })
    },
    effect: (answer) => header(answer, 'x-context'),
    expected: 'true',
  },
  otel: {
    register: (app) => app.register(tracing.plugin()),
    effect: async (answer, _app, path) => {
      const found = (): unknown => {
        const span = spans.getFinishedSpans().findLast(({ attributes }) => attributes['url.path'] === path)
        return span && [span.attributes['http.route'], span.attributes['http.response.status_code']]
      }
      await expect.poll(found).toBeDefined()
      expect(found()).toEqual([path === '/own' ? '/own' : '/*', answer.status])
      return 'a span'
    },
    expected: 'a span',
  },
}

let dir: string
let first: FastifyInstance
const served: FastifyInstance[] = []

const OPTIONS = { dev: false, responseCache: { proxied: 'unmatched' }, bypassRouter: 'all' } as const

/** How the plugin is registered: by these steps, and then `listen()`. */
const ORDERS: Readonly<Record<string, (plugin: Plugin) => Promise<FastifyInstance>>> = {
  'after the factory': async (plugin) => {
    const app = await createNextOnFastify({ dir, ...OPTIONS })
    await plugin.register(app)
    return app
  },
  'before nextPlugin': async (plugin) => {
    const app = Fastify({ rewriteUrl: routableUrl })
    await plugin.register(app)
    await app.register(nextPlugin, { dir, ...OPTIONS })
    return app
  },
  'after nextPlugin': async (plugin) => {
    const app = Fastify({ rewriteUrl: routableUrl })
    await app.register(nextPlugin, { dir, ...OPTIONS })
    await plugin.register(app)
    return app
  },
  'after nextPlugin, both without await': async (plugin) => {
    const app = Fastify({ rewriteUrl: routableUrl })
    void app.register(nextPlugin, { dir, ...OPTIONS })
    void plugin.register(app)
    return app
  },
}

async function serve(order: keyof typeof ORDERS, plugin: Plugin): Promise<FastifyInstance> {
  const app = await ORDERS[order]!(plugin)
  served.push(app)
  app.after(() => {
    plugin.use?.(app)
    app.get('/own', async () => 'own '.repeat(500))
  })
  await app.listen({ host: '127.0.0.1', port: 0 })
  return app
}

beforeAll(async () => {
  process.env['NODE_ENV'] = 'production'
  dir = await builtFixture('newest', {}, 'direct')
  // Next is closed with the last server.
  first = await createNextOnFastify({ dir, ...OPTIONS })
}, BUILD_TIMEOUT)
afterAll(() => Promise.all([first, ...served].map((app) => app.close())))

describe.each(Object.keys(ORDERS))('registered %s', (order) => {
  it.each(Object.entries(CASES))('%s works over pages, cached pages, files and 404s', async (_name, plugin) => {
    const app = await serve(order, plugin)
    const headers = (await plugin.headers?.(app)) ?? {}
    const found: Partial<Record<Target, unknown>> = {}
    const expected: Partial<Record<Target, unknown>> = {}
    const outside: number[] = []
    const kept = Object.values(TARGETS).map(([, status]) => plugin.outside ?? status)
    for (const [target, [path, status, text]] of Object.entries(TARGETS)) {
      const answer = async (): Promise<Answer> => ask(app, { path, headers })
      // The first response fills the cache, and shows the way past the router.
      for (let time = 0; time < 2; time++) await answer()
      const before = [app.nextStats()!.responseCache!.hits, app.nextStats()!.routerBypass!.bypassed]
      const third = await answer()
      const since = [app.nextStats()!.responseCache!.hits, app.nextStats()!.routerBypass!.bypassed]
      const isReadable = header(third, 'content-encoding') === undefined
      expect([third.status, !isReadable || third.body.includes(text)]).toEqual([status, true])
      // What has credentials is Next's.
      const isCached = (target === 'cached page' || target === 'file') && headers['authorization'] === undefined
      const counted = { target, hits: since[0]! - before[0]!, direct: since[1]! - before[1]! }
      expect(counted).toEqual({ target, hits: isCached ? 1 : 0, direct: target === 'page' ? 1 : 0 })
      found[target as Target] = await plugin.effect(third, app, path)
      const except = plugin.except ?? {}
      expected[target as Target] = target in except ? except[target as Target] : plugin.expected
      outside.push((await ask(app, { path })).status)
    }
    expect(found).toEqual(expected)
    expect(outside).toEqual(kept)
  })

  it('rate-limit responds 429 above the limit, also for cached pages', async () => {
    const app = await serve(order, { register: (one) => one.register(rateLimit, { max: 3 }) })
    const statuses: number[] = []
    for (const path of ['/old/static', '/old/static', '/ssr', '/old/static', '/ssr', '/hello.txt', '/none']) {
      statuses.push((await ask(app, { path })).status)
    }
    expect(statuses).toEqual([200, 200, 200, 429, 429, 429, 429])
  })

  it('cors responds to preflight requests for pages', async () => {
    const app = await serve(order, CASES['cors']!)
    const headers = { origin: 'https://a.example', 'access-control-request-method': 'POST' }
    for (const path of ['/ssr', '/old/static', '/none']) {
      const preflight = await ask(app, { path, method: 'OPTIONS', headers })
      expect([preflight.status, header(preflight, 'access-control-allow-methods')]).toEqual([204, 'GET,HEAD,POST'])
    }
  })

  it('under-pressure responds 503 to all requests under pressure', async () => {
    const options = { healthCheckInterval: 60_000, healthCheck: async () => false }
    const app = await serve(order, { register: (one) => one.register(underPressure, options) })
    for (const [path] of Object.values(TARGETS)) expect((await ask(app, { path })).status).toBe(503)
  })
})
