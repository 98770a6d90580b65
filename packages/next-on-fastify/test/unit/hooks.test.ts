import Fastify from 'fastify'
import { createNextOnFastify, nextPlugin } from 'next-on-fastify'
import { describe, expect, it } from 'vitest'
import { standInApp } from './stand-in.ts'

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

  it('set headers that reach the client with the answer of Next', async () => {
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

  it('do not run for what is sent: onSend is left out', async () => {
    const app = await createNextOnFastify({ dir: standInApp() })
    let sends = 0
    app.addHook('onSend', async () => void sends++)
    app.get('/own', async () => 'own')
    await app.inject('/page')
    expect(sends).toBe(0)
    await app.inject('/own')
    expect(sends).toBe(1)
  })
})
