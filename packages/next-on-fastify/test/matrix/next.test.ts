// What holds with a real Next, of whatever version: registered by one file for each, as a process can have one Next.

import { once } from 'node:events'
import { type IncomingMessage, request as httpRequest } from 'node:http'
import { setImmediate } from 'node:timers/promises'
import type { FastifyInstance } from 'fastify'
import { createNextOnFastify } from 'next-on-fastify'
import { afterAll, beforeAll, describe, expect, it, inject } from 'vitest'
import { WebSocket } from 'ws'
import { BUILD_TIMEOUT, builtFixture } from '../helpers/built-fixture.ts'
import { rawExchange } from '../helpers/raw-exchange.ts'
import { rewritingCopy, startUpstream, type Upstream } from '../helpers/upstream.ts'

const told = globalThis as {
  registerDelay?: number
  registered?: number
  actedFor?: string
  afterIsDone?: boolean
  greeted?: string
  failure?: unknown
}

const peers = inject('peers')

let app: FastifyInstance
let origin: string
let upstream: Upstream
let copy: ReturnType<typeof rewritingCopy>
let registeredAtStart: number | undefined
const warnings: Error[] = []
const onWarning = (warning: Error): void => void warnings.push(warning)

beforeAll(async () => {
  process.env['NODE_ENV'] = 'production'
  told.registerDelay = 500
  upstream = await startUpstream()
  copy = rewritingCopy(await builtFixture(peers), upstream.port)
  process.on('warning', onWarning)
  app = await createNextOnFastify({
    dir: copy.dir,
    requestIdHeader: 'x-request-id',
    observers: [{ requestServed: () => {} }],
    responseCache: { proxied: 'always', cacheStatus: true },
    fastify: { logger: { level: 'fatal' } },
  })
  registeredAtStart = told.registered
  app.addHook('onRequest', async (request, reply) => {
    reply.header('x-frame-options', 'DENY').header('vary', 'origin').header('x-id', request.id)
    if (request.url.startsWith('/static') && request.headers.authorization === undefined) reply.code(401).send()
  })
  app.get('/api/test', async () => ({ message: 'hello' }))
  origin = await app.listen({ host: '127.0.0.1', port: 0 })
}, BUILD_TIMEOUT)
afterAll(async () => {
  await app.close()
  process.off('warning', onWarning)
  upstream.close()
  copy.remove()
})

describe('a page', () => {
  it('is served by Next, with headers of hooks before its own', async () => {
    const { status, headers, text } = await ask('/')
    expect([status, text.includes('<h1>Home</h1>')]).toEqual([200, true])
    expect(headers.get('x-frame-options')).toBe('DENY')
    expect(headers.get('x-powered-by')).toBe('Next.js')
    // What a cache is to look at is what either says.
    expect(headers.get('vary')).toMatch(/^rsc, .*, Accept-Encoding, origin$/i)
  })

  it('is not served if a hook replies', async () => {
    expect((await ask('/static')).status).toBe(401)
    const { status, text } = await ask('/static', { headers: { authorization: 'me' } })
    expect([status, text.includes('<h1>Static</h1>')]).toEqual([200, true])
  })

  it('that is not there is a 404 of Next', async () => {
    const { status, text } = await ask('/none')
    expect([status, text.includes('This page could not be found')]).toEqual([404, true])
  })

  it('has no body for HEAD', async () => {
    expect(await ask('/', { method: 'HEAD' })).toMatchObject({ status: 200, text: '' })
  })

  it.each([
    ['/static/', 308, '/static'],
    ['/api//any', 308, '/api/any'],
  ])('asked for as %s is redirected as Next does', async (path, status, location) => {
    const answer = await ask(path, { headers: { authorization: 'me' }, redirect: 'manual' })
    expect([answer.status, answer.headers.get('location')]).toEqual([status, location])
  })

  it('of an undecodable URL is served by Next', async () => {
    const answer = await rawExchange(app, 'GET /%zz HTTP/1.1\r\nhost: a\r\nconnection: close\r\n\r\n')
    expect(answer).toMatch(/^HTTP\/1.1 404 /)
    expect(answer).toContain('X-Powered-By: Next.js')
  })
})

describe('a body', () => {
  it.each(['POST', 'PUT', 'PATCH', 'DELETE'])('of %s reaches a route handler', async (method) => {
    const headers = { 'content-type': 'application/json' }
    const { text } = await ask('/echo?a=b', { method, headers, body: '{ "some": 1 }' })
    expect(JSON.parse(text)).toMatchObject({ method, path: '/echo?a=b', body: '{ "some": 1 }' })
  })

  it('reaches an API route of pages, parsed by Next', async () => {
    const { text } = await ask('/api/any', { method: 'POST', body: new URLSearchParams({ a: '1' }) })
    expect(JSON.parse(text)).toEqual({ method: 'POST', query: {}, body: { a: '1' } })
  })

  const formOf = async (name: string): Promise<FormData> => {
    const page = await ask('/form')
    const form = new FormData()
    for (const [, field, value = ''] of hiddenFields(page.text)) form.set(field!, value)
    expect([...form.keys()].join()).toContain('ACTION')
    form.set('name', name)
    return form
  }

  it('reaches a server action, by a form without any script', async () => {
    const form = await formOf('Ada')
    const answer = await ask('/form', { method: 'POST', headers: { origin }, body: form })
    expect([answer.status, told.greeted]).toEqual([200, 'Ada'])
    expect(answer.text.replaceAll('<!-- -->', '')).toContain('Greeted: Ada.')
  })

  it('for a server action is limited by Next, and not by Fastify', async () => {
    const greeted = async (name: string): Promise<unknown> => {
      const sent = new Response(await formOf(name))
      const headers = { origin, 'content-type': sent.headers.get('content-type')! }
      // Next leaves unread what is too much, and so the connection is of no more use, also by `next start`.
      const post = httpRequest(`${origin}/form`, { method: 'POST', headers, agent: false })
      post.end(Buffer.from(await sent.arrayBuffer()))
      const [answer] = (await once(post, 'response')) as [IncomingMessage]
      answer.resume()
      return [answer.statusCode, told.greeted?.length]
    }
    // The app of Fastify takes 1 MB, and Next 2 MB by its configuration.
    const [allowed, tooMuch] = [1_500_000, 2_500_000]
    expect(await greeted('x'.repeat(allowed))).toEqual([200, allowed])
    expect(await greeted('x'.repeat(tooMuch))).toEqual([500, allowed])
  })
})

describe('the request of Fastify', () => {
  it('is there for a page and its metadata', async () => {
    const { headers, text } = await ask('/request')
    const id = headers.get('x-id')
    expect([...text.matchAll(/<(title|output)>(.*?)<\//g)].map(([, , said]) => said)).toEqual([id, id])
  })

  it('is there for a server action', async () => {
    const { text } = await ask('/request')
    const form = new FormData()
    for (const [, field, value = ''] of hiddenFields(text)) form.set(field!, value)
    const { status, headers } = await ask('/request', { method: 'POST', headers: { origin }, body: form })
    expect([status, told.actedFor]).toEqual([200, headers.get('x-id')])
  })

  it('is available in middleware', async () => {
    const { headers, text } = await ask('/proxied')
    expect(JSON.parse(text)).toEqual({ id: headers.get('x-id') })
  })

  it('is each time that of the one who has asked', async () => {
    const all = await Promise.all(Array.from({ length: 20 }, (_, index) => ask(`/request/handler?index=${index}`)))
    for (const [index, { headers, text }] of all.entries()) {
      const id = headers.get('x-id')
      expect(JSON.parse(text)).toEqual({ id, url: `/request/handler?index=${index}`, again: id })
    }
    expect(new Set(all.map(({ text }) => text)).size).toBe(20)
  })

  it('is not to be had where Next caches', async () => {
    const { message } = JSON.parse((await ask('/request/cached')).text)
    expect(message).toMatch(/connection.* inside .*unstable_cache/)
  })

  it('is not available in static pages', async () => {
    const { code, message } = JSON.parse((await ask('/request/static/any')).text)
    expect(code).toBe('NEXT_ON_FASTIFY_NO_REQUEST')
    expect(message).toContain('got `dynamic = "force-static"`')
  })

  it('is there for an API route, by the request of Node and no other', async () => {
    const { headers, text } = await ask('/api/request')
    expect(JSON.parse(text)).toEqual({ id: headers.get('x-id'), ofAnother: 'NEXT_ON_FASTIFY_NO_REQUEST' })
  })

  it('is there for `getServerSideProps`, also when Next asks for data alone', async () => {
    const page = await ask('/props')
    expect(/<output>(.*?)<\//.exec(page.text)![1]).toBe(page.headers.get('x-id'))
    const [, build] = /"buildId":"(.*?)"/.exec(page.text)!
    const data = await ask(`/_next/data/${build}/props.json`)
    expect(JSON.parse(data.text).pageProps).toEqual({ id: data.headers.get('x-id') })
  })
})

it('files of `public` and of the build are served', async () => {
  expect(await ask('/hello.txt')).toMatchObject({ status: 200, text: 'hello\n' })
  const [script] = /\/_next\/static\/[^"]+\.js/.exec((await ask('/')).text)!
  const { status, headers } = await ask(script)
  expect([status, headers.get('cache-control')]).toEqual([200, 'public, max-age=31536000, immutable'])
})

it('a route of the app wins over Next', async () => {
  expect((await ask('/api/test')).text).toBe('{"message":"hello"}')
})

it('inject() asks Next too', async () => {
  const answer = await app.inject({ method: 'POST', url: '/echo', payload: { a: 1 } })
  expect(answer.json()).toMatchObject({ method: 'POST', body: '{"a":1}' })
})

describe('a rewrite to another server', () => {
  it('forwards requests, without a warning of too many listeners', async () => {
    const answers = await Promise.all(['/a', '/b?c=d'].map((path) => ask(`/upstream${path}`)))
    expect(answers.map(({ text }) => text)).toEqual(['upstream /a', 'upstream /b?c=d'])
    // Warnings are emitted in a later tick.
    await setImmediate()
    expect(warnings).toEqual([])
  })

  it('forwards a WebSocket that the other server accepts late', async () => {
    const socket = new WebSocket(`${origin.replace('http', 'ws')}/upstream/socket`)
    const [message] = (await once(socket, 'message')) as [Buffer]
    expect(message.toString()).toBe('socket /socket')
    socket.terminate()
  })

  it('responds 404 to a WebSocket for another path', async () => {
    const socket = new WebSocket(`${origin.replace('http', 'ws')}/none`)
    const [error] = (await once(socket, 'error')) as [Error]
    expect(error.message).toBe('Unexpected server response: 404')
  })

  it('leaves requests for another protocol as they are', async () => {
    const head = 'host: a\r\nconnection: upgrade, http2-settings\r\nupgrade: h2c\r\nhttp2-settings: \r\n'
    const received = await rawExchange(app, `GET /hello.txt HTTP/1.1\r\n${head}\r\n`)
    expect(received).toMatch(/^HTTP\/1.1 200 OK[^]*\r\n\r\nhello\n/)
  })
})

it('is created after `register` of instrumentation has ended', () => {
  expect(registeredAtStart).toBe(1)
})

it('`register` of instrumentation has run once', async () => {
  expect((await ask('/instrumented')).text).toBe('{"registered":1}')
})

it('`onRequestError` of instrumentation gets the request ID', async () => {
  const { status, headers } = await ask('/fails')
  expect(status).toBe(500)
  expect(headers.get('x-id')).toMatch(/^req-/)
  expect(told.failure).toEqual({ message: 'failed', id: headers.get('x-id') })
})

// The last one, as it closes the app.
it('close() waits for a stream and for `after`', async () => {
  const { body } = await fetch(`${origin}/stream?parts=6`)
  const parts = body!.pipeThrough(new TextDecoderStream()).getReader()
  expect((await parts.read()).value).toContain('part 0')
  expect((await ask('/after')).text).toBe('answered')
  const closed = app.close()
  let text = ''
  for (let part = await parts.read(); !part.done; part = await parts.read()) text += part.value
  expect(text).toContain('part 5')
  await closed
  expect(told.afterIsDone).toBe(true)
})

async function ask(path: string, init?: RequestInit): Promise<{ status: number; headers: Headers; text: string }> {
  const response = await fetch(origin + path, init)
  return { status: response.status, headers: response.headers, text: await response.text() }
}

function hiddenFields(html: string): RegExpStringIterator<RegExpExecArray> {
  return html.matchAll(/<input type="hidden" name="([^"]+)"(?: value="([^"]*)")?/g)
}
