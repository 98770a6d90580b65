import Fastify, { type FastifyInstance, type FastifyRequest } from 'fastify'
import { createNextOnFastify, errorCodes, nextPlugin } from 'next-on-fastify'
import { describe, expect, it } from 'vitest'
import { standInApp } from '../../helpers/stand-in.ts'

const appWithNext = (): Promise<FastifyInstance> => createNextOnFastify({ dir: standInApp() })

describe('a route of app.next()', () => {
  it('is served by Next after the hooks of the app and its own', async () => {
    const app = await appWithNext()
    const order: string[] = []
    app.addHook('onRequest', async () => void order.push('app onRequest'))
    app.addHook('onSend', async (_request, reply) => {
      order.push('app onSend')
      reply.header('x-app', 'yes')
    })
    app.next('/hello', {
      onRequest: async () => void order.push('onRequest'),
      preParsing: async () => void order.push('preParsing'),
      preHandler: [async () => void order.push('preHandler')],
      onSend: async (_request, reply) => {
        order.push('onSend')
        reply.header('x-route', 'yes')
      },
    })
    const { headers, body } = await app.inject('/hello?a=1')
    expect(JSON.parse(body)).toMatchObject({ method: 'GET', url: '/hello?a=1' })
    expect(headers).toMatchObject({ 'x-app': 'yes', 'x-route': 'yes', 'x-powered-by': 'Next.js' })
    expect(order).toEqual(['app onRequest', 'onRequest', 'preParsing', 'preHandler', 'app onSend', 'onSend'])
    order.length = 0
    await app.inject('/other')
    expect(order).toEqual(['app onRequest', 'app onSend'])
  })

  it('is logged by the options of the plugin, unless it has its own', async () => {
    const lines: string[] = []
    const logger = { stream: { write: (line: string) => void lines.push(line) } }
    const logSerializers = { path: (path: string) => `<${path}>` }
    const app = await createNextOnFastify({ dir: standInApp(), logLevel: 'warn', logSerializers, fastify: { logger } })
    const warn = async ({ log, url }: FastifyRequest): Promise<void> => log.warn({ path: url }, 'seen')
    app.next('/quiet', { preHandler: warn })
    app.next('/loud', { logLevel: 'info', logSerializers: { path: () => 'hidden' }, preHandler: warn })
    for (const url of ['/quiet', '/loud']) expect((await app.inject(url)).statusCode).toBe(200)
    const logged = lines.map((line) => JSON.parse(line) as { msg: string; path?: string })
    expect(logged.map(({ msg, path }) => path ?? msg)).toEqual([
      '</quiet>',
      'incoming request',
      'hidden',
      'request completed',
    ])
  })

  it.each(['GET', 'HEAD', 'POST', 'PUT', 'OPTIONS', 'PROPFIND'])('has its hooks for %s, too', async (method) => {
    const app = await appWithNext()
    app.next('/account', { onRequest: async (_request, reply) => reply.code(401).send() })
    expect((await app.inject({ method: method as 'GET', url: '/account' })).statusCode).toBe(401)
  })

  it('leaves the body to Next', async () => {
    const app = await appWithNext()
    app.next('/form', () => '/action')
    const headers = { 'content-type': 'application/json' }
    const response = await app.inject({ method: 'POST', url: '/form', headers, payload: '{"not json' })
    expect(response.json()).toMatchObject({ method: 'POST', url: '/action', body: '{"not json', headers })
  })

  it('serves the methods that are named, and HEAD with GET', async () => {
    const app = await appWithNext()
    const seen: string[] = []
    app.next('/hello', { method: 'GET' }, ({ method }) => void seen.push(method))
    app.post('/hello', async () => 'own')
    expect((await app.inject('/hello')).json()).toMatchObject({ url: '/hello' })
    expect((await app.inject({ method: 'HEAD', url: '/hello' })).headers['x-powered-by']).toBe('Next.js')
    expect((await app.inject({ method: 'POST', url: '/hello' })).body).toBe('own')
    expect((await app.inject({ method: 'PUT', url: '/hello' })).json()).toMatchObject({ method: 'PUT' })
    expect(seen).toEqual(['GET', 'HEAD'])
  })

  it('belongs to the context that adds it, with its prefix and hooks', async () => {
    const app = Fastify()
    await app.register(nextPlugin, { dir: standInApp() })
    app.register(
      async (context) => {
        context.addHook('onRequest', async (_request, reply) => void reply.header('x-context', 'yes'))
        context.next('/:id', ({ params }) => `/post?id=${(params as { id: string }).id}`)
      },
      { prefix: '/posts' },
    )
    const { headers, body } = await app.inject('/posts/7')
    expect([headers['x-context'], JSON.parse(body)]).toMatchObject(['yes', { url: '/post?id=7' }])
    expect((await app.inject('/post?id=7')).headers).not.toHaveProperty('x-context')
  })

  it('rejects WebSockets as other paths do', async () => {
    const app = await createNextOnFastify({ dir: standInApp(), upgrades: false })
    app.next('/socket')
    const headers = { connection: 'upgrade', upgrade: 'websocket' }
    expect((await app.inject({ url: '/socket', headers })).statusCode).toBe(426)
  })

  it.each([
    ['url', ['hello'], 'Invalid option "url": expected a path with a leading slash, got "hello".'],
    ['url', [7], 'Invalid option "url": expected a path with a leading slash, got 7.'],
    ['options', ['/', 'GET'], 'Invalid option "options": expected an object, got "GET".'],
    ['handler', ['/', {}, '/other'], 'Invalid option "handler": expected a function, got "/other".'],
  ])('is not added with an invalid %s', async (_, args, message) => {
    const app = await appWithNext()
    expect(() => app.next(...(args as [string]))).toThrow(
      expect.objectContaining({ code: 'NEXT_ON_FASTIFY_INVALID_OPTION', message }) as Error,
    )
  })
})

describe('the handler of app.next()', () => {
  it('selects the URL that Next serves, and hooks still know the original one', async () => {
    const app = await appWithNext()
    const urls: string[] = []
    app.addHook('onResponse', async ({ url, originalUrl }) => void urls.push(url, originalUrl))
    app.next('/p/:id', async ({ params }) => `/post/${encodeURIComponent((params as { id: string }).id)}?a=b`)
    expect((await app.inject('/p/a%2Fb?x=1')).json()).toMatchObject({ url: '/post/a%2Fb?a=b' })
    expect(urls).toEqual(['/post/a%2Fb?a=b', '/p/a%2Fb?x=1'])
  })

  it('selects the URL also for one that Fastify cannot decode', async () => {
    const app = await appWithNext()
    app.next('/files/*', () => '/file')
    expect((await app.inject('/files/%zz')).json()).toMatchObject({ url: '/file' })
  })

  it('keeps the original URL without the option `rewriteUrl`', async () => {
    const app = Fastify()
    await app.register(nextPlugin, { dir: standInApp() })
    let original: string | undefined
    app.addHook('onResponse', async ({ originalUrl }) => void (original = originalUrl))
    app.next('/a', () => '/b')
    await app.inject('/a?x')
    expect(original).toBe('/a?x')
  })

  it('may reply in place of Next', async () => {
    const app = await appWithNext()
    app.next('/now', (_request, reply) => reply.redirect('/login'))
    app.next('/later', async (_request, reply) => {
      setImmediate(() => reply.code(403).send('no'))
      return reply
    })
    expect((await app.inject('/now')).headers.location).toBe('/login')
    expect(await app.inject('/later')).toMatchObject({ statusCode: 403, body: 'no' })
  })

  it('runs the error handler of the app if it throws', async () => {
    const app = await appWithNext()
    app.setErrorHandler(async (error: Error, _request, reply) => reply.code(503).send(error.message))
    app.next('/a', () => {
      throw new Error('thrown')
    })
    expect(await app.inject('/a')).toMatchObject({ statusCode: 503, body: 'thrown' })
  })

  it.each([
    'post/1',
    '//host',
    '/a/../admin',
    '/a/..',
    '/a/%2e%2E/admin',
    '/a/./b',
    '/a\\..\\b',
    '/a b',
    '/a#b',
    '/ä',
    '/%',
  ])('gets a 400 for the path %s, which clients may have composed', async (path) => {
    const app = await appWithNext()
    app.next('/a', () => path)
    const response = await app.inject('/a')
    expect([response.statusCode, response.json()]).toMatchObject([400, { code: 'NEXT_ON_FASTIFY_INVALID_PATH' }])
  })

  it('gets a 500 if it returns no path', async () => {
    const app = await appWithNext()
    app.next('/a', (() => ({ page: '/b' })) as never)
    const response = await app.inject('/a')
    expect([response.statusCode, response.json()]).toMatchObject([
      500,
      { message: 'Invalid path from the handler of GET /a: expected a path such as "/about", got object.' },
    ])
    expect(errorCodes.NEXT_ON_FASTIFY_INVALID_PATH).toBeTypeOf('function')
  })

  it('tells the client of a rewritten navigation, as rewrites of Next do', async () => {
    const app = await appWithNext()
    app.next('/p/:id', () => '/post/7?a=b')
    const { headers, body } = await app.inject({ url: '/p/7?_rsc=x1', headers: { rsc: '1' } })
    expect(JSON.parse(body)).toMatchObject({ url: '/post/7?a=b&_rsc=x1' })
    expect(headers).toMatchObject({ 'x-nextjs-rewritten-path': '/post/7', 'x-nextjs-rewritten-query': 'a=b' })
    expect((await app.inject('/p/7')).headers).not.toHaveProperty('x-nextjs-rewritten-path')
  })
})
