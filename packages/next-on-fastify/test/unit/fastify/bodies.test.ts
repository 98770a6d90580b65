import { Readable } from 'node:stream'
import Fastify, { type FastifyInstance } from 'fastify'
import { nextPlugin } from 'next-on-fastify'
import { describe, expect, it, onTestFinished } from 'vitest'
import { rawExchange } from '../../helpers/raw-exchange.ts'
import { standInApp } from '../../helpers/stand-in.ts'

async function appWithNext(add?: (app: FastifyInstance) => void): Promise<FastifyInstance> {
  const app = Fastify()
  add?.(app)
  await app.register(nextPlugin, { dir: standInApp() })
  return app
}

describe('a body for Next', () => {
  it.each(['POST', 'PUT', 'PATCH', 'DELETE', 'OPTIONS', 'QUERY'] as const)('of %s is left to Next', async (method) => {
    const app = await appWithNext()
    for (const type of ['application/json', 'text/plain', 'multipart/form-data; boundary=x', 'image/png', 'nonsense']) {
      const answer = await app.inject({ method, url: '/a', headers: { 'content-type': type }, payload: '{"not json' })
      expect(answer.json()).toMatchObject({ method, body: '{"not json', headers: { 'content-type': type } })
    }
  })

  it('without a type is left to Next, of a length or in chunks', async () => {
    const app = await appWithNext()
    const lengthy = await app.inject({ method: 'POST', url: '/a', payload: 'text' })
    expect(lengthy.json()).toMatchObject({ body: 'text', headers: { 'content-length': '4' } })
    onTestFinished(() => app.close())
    await app.listen({ host: '127.0.0.1', port: 0 })
    const head = 'POST /a HTTP/1.1\r\nhost: a\r\nconnection: close\r\ntransfer-encoding: chunked\r\n\r\n'
    expect(await rawExchange(app, `${head}2\r\nte\r\n2\r\nxt\r\n0\r\n\r\n`)).toContain('"body":"text"')
  })

  it('may be larger than the body limit of the app', async () => {
    const app = Fastify({ bodyLimit: 10 })
    await app.register(nextPlugin, { dir: standInApp() })
    const body = 'x'.repeat(100)
    const headers = { 'content-type': 'application/json' }
    expect((await app.inject({ method: 'POST', url: '/a', headers, payload: body })).json()).toMatchObject({ body })
  })

  it('may be missing', async () => {
    const app = await appWithNext()
    expect((await app.inject({ method: 'POST', url: '/a' })).json()).toMatchObject({ body: '' })
    expect((await app.inject({ method: 'QUERY' as 'POST', url: '/a' })).json()).toMatchObject({ body: '' })
  })

  it.each(['POST', 'QUERY', 'GET'])('of %s has the type that the client has sent, in each hook', async (method) => {
    const seen: unknown[] = []
    const app = await appWithNext()
    const look = (request: { headers: Record<string, unknown> }): void =>
      void seen.push(request.headers['content-type'])
    app.addHook('onRequest', async (request) => look(request))
    app.addHook('preParsing', async (request) => look(request))
    app.addHook('preValidation', async (request) => look(request))
    app.addHook('preHandler', async (request) => look(request))
    app.addHook('onResponse', async (request) => look(request))
    await app.inject({ method: method as 'POST', url: '/a', headers: { 'content-type': 'text/css' }, payload: 'a' })
    expect(seen).toEqual(Array.from({ length: 5 }, () => 'text/css'))
  })

  it('leaves headers alone that a hook has set for those after it', async () => {
    const app = await appWithNext()
    let seen: unknown
    app.addHook('onRequest', async (request) => void (request.headers = { 'x-user': '7' }))
    app.addHook('preHandler', async (request) => void (seen = [request.headers['x-user'], request.headers['x-sent']]))
    await app.inject({ method: 'POST', url: '/a', headers: { 'x-sent': '1' }, payload: { a: 1 } })
    expect(seen).toEqual(['7', '1'])
  })

  it('that a hook has read is an error with a code, as Next would wait for it', async () => {
    const app = await appWithNext()
    app.addHook('preParsing', async (_request, _reply, payload) => {
      await Readable.from(payload).toArray()
      return payload
    })
    const answer = await app.inject({ method: 'POST', url: '/a', payload: 'text' })
    expect([answer.statusCode, answer.json()]).toMatchObject([500, { code: 'NEXT_ON_FASTIFY_BODY_READ' }])
  })
})

describe('a body for a route of the app', () => {
  it('is parsed as ever', async () => {
    const app = await appWithNext()
    app.post('/own', async ({ body }) => ({ body }))
    expect((await app.inject({ method: 'POST', url: '/own', payload: { a: 1 } })).json()).toEqual({ body: { a: 1 } })
    const image = { method: 'POST', url: '/own', headers: { 'content-type': 'image/png' }, payload: 'x' } as const
    expect((await app.inject(image)).statusCode).toBe(415)
  })
})
