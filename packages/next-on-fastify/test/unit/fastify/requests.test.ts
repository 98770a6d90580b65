import { METHODS } from 'node:http'
import Fastify from 'fastify'
import { createNextOnFastify, nextPlugin, routableUrl } from 'next-on-fastify'
import { describe, expect, it, onTestFinished } from 'vitest'
import { rawExchange } from '../../helpers/raw-exchange.ts'
import { standInApp } from '../../helpers/stand-in.ts'

describe('a request for Next', () => {
  it.each(METHODS.filter((method) => method !== 'CONNECT'))('is a request of method %s', async (method) => {
    const app = await createNextOnFastify({ dir: standInApp() })
    const answer = await app.inject({ method: method as 'GET', url: '/a' })
    expect(answer.statusCode).toBe(200)
    expect(answer.headers['x-powered-by']).toBe('Next.js')
    expect(answer.body).toContain(method === 'HEAD' ? '' : `{"method":"${method}","url":"/a",`)
  })

  it('has the URL that was sent, however odd', async () => {
    const app = await createNextOnFastify({ dir: standInApp() })
    onTestFinished(() => app.close())
    await app.listen({ host: '127.0.0.1', port: 0 })
    for (const url of [
      ...['/', '/a/', '//', '//a', '/a//b', '/a/../b', '/a/./b', '/%2e%2e/a', '/a?b=c&b=d', '/a?', '/a?b=%', '/a;b?c'],
      ...['/%', '/%zz', '/a%', '/%c3%28', '/%ff/a?b=%25', '/a%2fb', '/a%252f', '/%61', '/%E4', '/a#b', '/*', '/:a'],
      ...['*', 'http://other/a//b?c', 'http://other/%', 'HTTP://other/%?%', 'http://other', `/${'a'.repeat(3000)}`],
      `/${'%61'.repeat(200)}`,
    ]) {
      const request = `OPTIONS ${url} HTTP/1.1\r\nhost: a\r\nconnection: close\r\n\r\n`
      const [head, body] = (await rawExchange(app, request)).split('\r\n\r\n') as [string, string]
      expect([url, head.split('\r\n')[0]]).toEqual([url, 'HTTP/1.1 200 OK'])
      expect(body).toContain(`"url":${JSON.stringify(url)},`)
    }
  })

  it('has no undecodable URL without `rewriteUrl`', async () => {
    const app = Fastify()
    await app.register(nextPlugin, { dir: standInApp() })
    expect((await app.inject('/%')).json()).toMatchObject({ code: 'FST_ERR_BAD_URL' })
  })

  it('in an app that has `rewriteUrl: routableUrl`, is such a URL too', async () => {
    const app = Fastify({ rewriteUrl: routableUrl })
    await app.register(nextPlugin, { dir: standInApp() })
    expect((await app.inject('/%')).json()).toMatchObject({ url: '/%' })
  })

  it("has Fastify's id of the request, if it is asked for, and not what the client says", async () => {
    const dir = standInApp()
    const app = await createNextOnFastify({ dir, requestIdHeader: 'x-request-id' })
    const answer = await app.inject({ url: '/a', headers: { 'x-request-id': 'forged' } })
    expect(answer.json()).toMatchObject({ headers: { 'x-request-id': 'req-1' } })
    const plain = await createNextOnFastify({ dir })
    const untouched = await plain.inject({ url: '/a', headers: { 'x-request-id': 'theirs' } })
    expect(untouched.json()).toMatchObject({ headers: { 'x-request-id': 'theirs' } })
  })

  it('has unchanged forwarding headers, regardless of `trustProxy`', async () => {
    const headers = { 'x-forwarded-for': '1.2.3.4', 'x-forwarded-proto': 'https', 'x-forwarded-host': 'example.com' }
    const dir = standInApp()
    for (const trustProxy of [true, false]) {
      const app = await createNextOnFastify({ dir, fastify: { trustProxy } })
      let ip: unknown
      app.addHook('onRequest', async (request) => void (ip = request.ip))
      expect((await app.inject({ url: '/a', headers })).json()).toMatchObject({ headers })
      expect(ip).toBe(trustProxy ? '1.2.3.4' : '127.0.0.1')
    }
  })

  it('has no header that a hook has taken away', async () => {
    const app = await createNextOnFastify({ dir: standInApp() })
    app.addHook('onRequest', async ({ raw }) => {
      delete raw.headers['x-forwarded-host']
      raw.headers['x-user'] = '7'
    })
    const { headers } = (
      await app.inject({ url: '/a', headers: { 'x-forwarded-host': 'evil.example', 'x-user': 'root' } })
    ).json<{ headers: Record<string, string> }>()
    expect([headers['x-forwarded-host'], headers['x-user']]).toEqual([undefined, '7'])
  })
})

describe('a route of the app', () => {
  it('wins over Next, for the methods that it has', async () => {
    const app = await createNextOnFastify({ dir: standInApp() })
    app.get('/api/test', async () => ({ message: 'hello' }))
    app.get('/users/:id', async ({ params }) => params)
    expect((await app.inject('/api/test')).json()).toEqual({ message: 'hello' })
    expect((await app.inject('/users/7')).json()).toEqual({ id: '7' })
    expect((await app.inject({ method: 'HEAD', url: '/api/test' })).headers['x-powered-by']).toBeUndefined()
    expect((await app.inject({ method: 'POST', url: '/api/test' })).json()).toMatchObject({ method: 'POST' })
    expect((await app.inject('/api/test/more')).json()).toMatchObject({ url: '/api/test/more' })
  })

  it('responds to its own errors and its own 404', async () => {
    const app = await createNextOnFastify({ dir: standInApp() })
    app.setNotFoundHandler(async (_request, reply) => reply.code(404).send('none'))
    app.get('/gone', async (_request, reply) => reply.callNotFound())
    app.get('/fails', async () => Promise.reject(new Error('failed')))
    expect(await app.inject('/gone')).toMatchObject({ statusCode: 404, body: 'none' })
    expect((await app.inject('/fails')).json()).toMatchObject({ statusCode: 500, message: 'failed' })
  })
})

describe('under a prefix', () => {
  it('Next serves its own paths, and Fastify all others', async () => {
    const app = Fastify()
    const dir = standInApp()
    await app.register(nextPlugin, { dir, dev: false, prefix: '/shop' })
    await app.register(nextPlugin, { dir, dev: false, prefix: '/blog', port: 4000 })
    expect((await app.inject('/shop')).json()).toMatchObject({ url: '/shop', next: { dev: false } })
    expect((await app.inject('/shop/a?b')).json()).toMatchObject({ url: '/shop/a?b' })
    expect((await app.inject('/blog/')).json()).toMatchObject({ url: '/blog/', next: { port: 4000 } })
    expect((await app.inject('/shopping')).statusCode).toBe(404)
    expect((await app.inject('/')).statusCode).toBe(404)
  })
})

it('responds 500 to other errors as next start does, and logs them', async () => {
  const lines: string[] = []
  const logger = { level: 'error', stream: { write: (line: string) => void lines.push(line) } }
  const app = await createNextOnFastify({ dir: standInApp(), fastify: { logger } })
  expect(await app.inject('/throws')).toMatchObject({ statusCode: 500, body: 'Internal Server Error' })
  expect(JSON.parse(lines[0]!)).toMatchObject({ msg: 'Next failed', err: { message: 'thrown' } })
})

it('logs requests of Next by their own serializers, as other plugins do', async () => {
  const lines: string[] = []
  const logger = { level: 'info', stream: { write: (line: string) => void lines.push(line) } }
  const app = Fastify({ logger })
  const logSerializers = { req: () => 'a request of Next' }
  await app.register(nextPlugin, { dir: standInApp(), logSerializers })
  app.get('/own', async () => 'own')
  const logged = (): unknown[] => lines.splice(0).map((line) => (JSON.parse(line) as { req?: unknown }).req)
  await app.inject('/page')
  expect(logged()).toContain('a request of Next')
  await app.inject('/own')
  expect(logged()).not.toContain('a request of Next')
})

it('logs requests of Next at their own level', async () => {
  const lines: string[] = []
  const logger = { level: 'info', stream: { write: (line: string) => void lines.push(line) } }
  const app = await createNextOnFastify({ dir: standInApp(), logLevel: 'warn', fastify: { logger } })
  app.get('/own', async () => 'own')
  await app.inject('/page')
  expect(lines).toEqual([])
  await app.inject('/own')
  expect(lines).toHaveLength(2)
})
