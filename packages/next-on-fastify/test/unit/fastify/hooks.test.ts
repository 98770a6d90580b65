import Fastify, { type FastifyReply } from 'fastify'
import fp from 'fastify-plugin'
import { createNextOnFastify, nextPlugin } from 'next-on-fastify'
import { describe, expect, it } from 'vitest'
import { standInApp } from '../../helpers/stand-in.ts'

const HOOKS = ['onRequest', 'preParsing', 'preValidation', 'preHandler', 'onResponse'] as const

describe('hooks over Next', () => {
  it('run in the order of Fastify, whether they were added before the plugin or after', async () => {
    const order: string[] = []
    const app = Fastify()
    const add = (when: string): void => {
      for (const hook of HOOKS) app.addHook(hook as 'onRequest', async () => void order.push(`${hook} ${when}`))
    }
    add('before')
    await app.register(nextPlugin, { dir: standInApp() })
    add('after')
    expect((await app.inject('/page')).json()).toMatchObject({ url: '/page' })
    expect(order).toEqual(HOOKS.flatMap((hook) => [`${hook} before`, `${hook} after`]))
  })

  it.each(['onRequest', 'preValidation', 'preHandler'] as const)('keep Next from a request by %s', async (hook) => {
    const app = await createNextOnFastify({ dir: standInApp() })
    app.addHook(hook, async (request, reply) => {
      if (request.headers.authorization === undefined) await reply.code(401).send({ who: 'are you' })
    })
    // The last three: methods and URLs of which Fastify's router knows nothing.
    for (const [method, url] of [
      ['GET', '/page'],
      ['POST', '/page'],
      ['HEAD', '/page'],
      ['OPTIONS', '/page'],
      ['PROPFIND', '/page'],
      ['GET', '/page/%'],
      ['GET', '//page'],
    ] as const) {
      const answer = await app.inject({ method: method as 'GET', url })
      expect([method, url, answer.statusCode]).toEqual([method, url, 401])
      const allowed = await app.inject({ method: method as 'GET', url, headers: { authorization: 'me' } })
      expect([method, url, allowed.statusCode]).toEqual([method, url, 200])
    }
  })

  it('set headers that are sent with the response of Next', async () => {
    const app = await createNextOnFastify({ dir: standInApp() })
    app.addHook('onRequest', async (_request, reply) => {
      reply.header('x-frame-options', 'DENY').header('x-powered-by', 'nobody').header('set-cookie', ['a=1', 'b=2'])
      reply.raw.setHeader('x-raw', 'yes')
    })
    const { headers } = await app.inject('/page')
    expect(headers).toMatchObject({ 'x-frame-options': 'DENY', 'x-raw': 'yes', 'set-cookie': ['a=1', 'b=2'] })
    // What Next sets too is Next's.
    expect(headers['x-powered-by']).toBe('Next.js')
  })

  it('add the cookies of a hook to those of Next', async () => {
    const app = await createNextOnFastify({ dir: standInApp() })
    app.addHook('onRequest', async (_request, reply) => void reply.header('set-cookie', 'a=1'))
    const { headers } = await app.inject('/sets-cookie')
    expect(headers['set-cookie']).toEqual(['a=1', 'next=1'])
  })

  it('onSend runs before Next is asked, with no payload, and its headers reach the client', async () => {
    const app = await createNextOnFastify({ dir: standInApp() })
    const payloads: unknown[] = []
    app.addHook('onSend', async (_request, reply, payload) => {
      payloads.push(payload)
      reply.header('x-sent', 'yes')
      return payload === undefined ? 'other' : payload
    })
    app.get('/own', async () => 'own')
    const page = await app.inject('/page')
    expect([page.json(), page.headers['x-sent']]).toEqual([expect.objectContaining({ url: '/page' }), 'yes'])
    expect((await app.inject('/own')).body).toBe('own')
    expect(payloads).toEqual([undefined, 'own'])
  })

  it('onSend that fails is the error of the app, and Next is not asked', async () => {
    const app = await createNextOnFastify({ dir: standInApp() })
    app.addHook('onSend', async (_request, reply) => {
      if (reply.statusCode < 500) throw new Error('The store is gone')
    })
    // An error of no content, which looks like a request for Next.
    app.setErrorHandler((_error, _request, reply) => void reply.code(503).send())
    expect(await app.inject('/page')).toMatchObject({ statusCode: 503, body: '' })
  })

  it.each<[string, (reply: FastifyReply) => unknown]>([
    ['headers()', (reply) => reply.headers({ 'Content-Length': '3', 'Transfer-Encoding': 'identity' })],
    ['raw.setHeader()', ({ raw }) => raw.setHeader('content-length', '3')],
  ])('cannot set a length that the body of Next does not have, by %s', async (_, setLength) => {
    const app = await createNextOnFastify({ dir: standInApp() })
    app.addHook('onRequest', async (_request, reply) => void setLength(reply))
    const { headers, body } = await app.inject('/page')
    expect(body.length).toBeGreaterThan(3)
    expect(headers['content-length'] ?? String(body.length)).toBe(String(body.length))
    expect(headers['transfer-encoding'] ?? 'chunked').toBe('chunked')
  })

  it('respond 500 if they set an invalid header', async () => {
    const app = await createNextOnFastify({ dir: standInApp() })
    app.addHook('onRequest', async (_request, reply) => void reply.header('x-name', 'two\nlines'))
    app.setErrorHandler((_error, _request, reply) => void reply.removeHeader('x-name').code(500).send('refused'))
    expect(await app.inject('/page')).toMatchObject({ statusCode: 500, body: 'refused' })
  })

  it('onSend runs for a reply of a hook as usual, and Next is not asked', async () => {
    const app = await createNextOnFastify({ dir: standInApp() })
    app.addHook('onRequest', async (_request, reply) => reply.code(204).send())
    app.addHook('onSend', async (_request, reply) => void reply.header('x-sent', 'yes'))
    const { statusCode, headers, body } = await app.inject('/page')
    expect([statusCode, headers['x-sent'], headers['x-powered-by'], body]).toEqual([204, 'yes', undefined, ''])
  })

  it.each(['before', 'after'])('onRoute that was added %s Next sees its route', async (when) => {
    const app = Fastify()
    const seen: string[] = []
    const add = (): void => void app.addHook('onRoute', ({ url }) => void seen.push(url))
    if (when === 'before') add()
    await app.register(nextPlugin, { dir: standInApp(), prefix: '/shop' })
    if (when === 'after') add()
    await app.ready()
    expect(new Set(seen)).toEqual(new Set(['/shop/*', '/shop']))
  })
})

describe('plugins that follow Next', () => {
  it('without await are there for its route', async () => {
    const app = Fastify()
    const seen: string[] = []
    const requests: string[] = []
    app.register(nextPlugin, { dir: standInApp() })
    app.register(
      fp(async (instance) => {
        await Promise.resolve()
        instance.addHook('onRoute', (options) => {
          seen.push(options.url)
          options.onRequest = async ({ url }) => void requests.push(url)
        })
      }),
    )
    app.options('*', async () => 'own')
    app.get('/own', async () => 'own')
    expect((await app.inject('/page')).json()).toMatchObject({ url: '/page' })
    expect((await app.inject('/own')).body).toBe('own')
    expect(requests).toEqual(['/page'])
    expect(new Set(seen)).toEqual(new Set(['/*']))
  })

  it('are there for its route also where Next is in a context of its own', async () => {
    const app = Fastify()
    const seen: string[] = []
    await app.register(
      async (context) => {
        await context.register(nextPlugin, { dir: standInApp() })
        context.addHook('onRoute', ({ url }) => void seen.push(url))
      },
      { prefix: '/shop' },
    )
    expect((await app.inject('/shop/page')).json()).toMatchObject({ url: '/shop/page' })
    expect((await app.inject('/page')).statusCode).toBe(404)
    expect(new Set(seen)).toEqual(new Set(['/shop/*']))
  })

  it('may have a route for OPTIONS of all paths', async () => {
    const app = await createNextOnFastify({ dir: standInApp() })
    app.options('*', async () => 'own')
    expect((await app.inject({ method: 'OPTIONS', url: '/page' })).body).toBe('own')
    expect((await app.inject('/page')).json()).toMatchObject({ url: '/page' })
  })

  it('that have a route for GET of all paths fail the start, as Next would have no page', async () => {
    const app = await createNextOnFastify({ dir: standInApp() })
    app.get('*', async () => 'own')
    await expect(app.ready()).rejects.toThrow(/ already declared for route '\/\*'/)
  })
})
