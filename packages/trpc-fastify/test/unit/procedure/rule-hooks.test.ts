// Rules of procedures, as far as they are about requests: hooks and body limits.

import { Readable } from 'node:stream'
import type { InjectOptions } from 'fastify'
import { describe, expect, it } from 'vitest'
import type { ProcedureRule } from 'trpc-fastify'
import { FAST_PATHS } from '../../helpers/fast-paths.ts'
import { batchOf, serveRuled } from '../../helpers/ruled-app.ts'
import { HAS } from '../../helpers/peer-versions.ts'

type Rules = Record<string, ProcedureRule>

/** Rules whose hooks of one kind note that they ran. */
const noting = (ran: string[], hook: keyof ProcedureRule, patterns: readonly string[]): Rules =>
  Object.fromEntries(
    patterns.map((pattern) => [pattern, { [hook]: async () => void ran.push(pattern) } satisfies ProcedureRule]),
  )

const PATTERNS = ['post.comment.list', 'post.*', '*', 'hello', 'post.comment.*', 'admin.*'] as const

describe.each(FAST_PATHS)('with fastPath %s', (fastPath) => {
  it.each([
    ['/trpc/hello', ['*', 'hello']],
    ['/trpc/post.list', ['*', 'post.*']],
    ['/trpc/post.comment.list', ['*', 'post.*', 'post.comment.*', 'post.comment.list']],
    ['/trpc/admin.health', ['*', 'admin.*']],
    ['/trpc/postal', ['*']],
    [batchOf('hello', 'post.list'), ['*', 'post.*', 'hello']],
    [
      batchOf('post.list', 'hello', 'post.comment.list'),
      ['*', 'post.*', 'post.comment.*', 'post.comment.list', 'hello'],
    ],
    // Whatever tRPC would make of it, the rules of a procedure hold.
    ['/trpc/hello,post.list', ['*', 'post.*', 'hello']],
    ['/trpc/hello?batch=1&batch=0', ['*', 'hello']],
    ['/trpc/%68ello', ['*', 'hello']],
    ['/trpc/%2568ello', ['*', 'hello']],
    ['/trpc/hello%2Cpost%2Elist?batch=1', ['*', 'post.*', 'hello']],
    ['/trpc/hello%252Cpost%252Elist?batch=1', ['*', 'post.*', 'hello']],
    ['/trpc/hello?input=%zz', ['*', 'hello']],
    ['/trpc/hello%25', ['*']],
  ])('hooks run for what %s calls, from the most general rule to the most specific', async (url, expected) => {
    const ran: string[] = []
    const app = await serveRuled(() => ({ fastPath, procedures: noting(ran, 'onRequest', PATTERNS) }))
    await app.inject(url)
    // Those of equal rank have the order in which they stand.
    expect(ran.filter((pattern) => pattern !== 'hello')).toEqual(expected.filter((pattern) => pattern !== 'hello'))
    expect(ran.toSorted()).toEqual(expected.toSorted())
  })

  it.each(['HEAD', 'OPTIONS', 'PUT', 'DELETE'] as const)('runs hooks for %s', async (method) => {
    const ran: string[] = []
    const app = await serveRuled(() => ({ fastPath, procedures: noting(ran, 'onRequest', PATTERNS) }))
    await app.inject({ method, url: '/trpc/hello' })
    expect(ran).toEqual(['*', 'hello'])
  })

  it('runs hooks of all kinds in the order of Fastify, with callbacks and promises, single and in arrays', async () => {
    const ran: string[] = []
    const app = await serveRuled(() => ({
      fastPath,
      procedures: {
        '*': {
          onRequest: (_request, _reply, done) => {
            ran.push('onRequest *')
            done()
          },
          onSend: (_request, reply, payload, done) => {
            ran.push('onSend *')
            reply.header('x-hook', 'ran')
            done(null, payload)
          },
        },
        'post.*': {
          onRequest: [
            async () => void ran.push('first'),
            (_request, _reply, done) => {
              ran.push('second')
              done()
            },
          ],
          preValidation: async ({ body }) => void ran.push(`preValidation ${String(body)}`),
          preHandler: async () => void ran.push('preHandler'),
          onSend: async () => void ran.push('onSend'),
          onResponse: async () => void ran.push('onResponse'),
        },
        hello: { onSend: async () => 'not for this one', onResponse: async () => void ran.push('not for this one') },
      },
    }))
    const headers = { 'content-type': 'application/json' }
    const answer = await app.inject({ method: 'POST', url: '/trpc/post.add', headers, body: '"four"' })
    expect(answer.json()).toEqual({ result: { data: 4 } })
    expect(answer.headers['x-hook']).toBe('ran')
    await expect.poll(() => ran.at(-1)).toBe('onResponse')
    const inOrder = ['onRequest *', 'first', 'second', 'preValidation "four"', 'preHandler', 'onSend *', 'onSend']
    expect(ran).toEqual([...inOrder, 'onResponse'])
  })

  it('calls hooks as methods of the app, as Fastify does', async () => {
    const app = await serveRuled(() => ({
      fastPath,
      procedures: {
        hello: {
          async onRequest(_request, reply) {
            reply.header('x-prefix', this.prefix)
          },
        },
      },
    }))
    expect((await app.inject('/trpc/hello')).headers['x-prefix']).toBe('/trpc')
  })

  it('ends a request or batch whose hook responds or fails', async () => {
    const app = await serveRuled(() => ({
      fastPath,
      procedures: {
        'post.*': { onRequest: async (_request, reply) => reply.code(401).send({ refused: true }) },
        'admin.*': {
          preHandler: async () => {
            throw Object.assign(new Error('Not for you'), { statusCode: 403 })
          },
        },
      },
    }))
    for (const url of ['/trpc/post.list', batchOf('hello', 'post.list')]) {
      const answer = await app.inject(url)
      expect([answer.statusCode, answer.json()]).toEqual([401, { refused: true }])
    }
    for (const url of ['/trpc/admin.health', batchOf('hello', 'admin.health')]) {
      expect((await app.inject(url)).statusCode).toBe(403)
    }
    expect((await app.inject('/trpc/hello')).json()).toEqual({ result: { data: 'world' } })
  })

  describe('bodyLimit', () => {
    const add = (text: string): InjectOptions => ({
      method: 'POST',
      headers: { 'content-type': 'application/json' },
      url: '/trpc/post.add',
      body: JSON.stringify(text),
    })
    const chunked = ({ headers, body, ...request }: InjectOptions): InjectOptions => ({
      ...request,
      headers: { ...headers, 'transfer-encoding': 'chunked' },
      body: Readable.from([body as string]),
    })

    it.each([
      ['with a length', (request: InjectOptions) => request],
      ['in chunks', chunked],
    ])('answers a body %s that is larger with 413, and one that is not', async (_name, sent) => {
      const app = await serveRuled(() => ({ fastPath, procedures: { 'post.add': { bodyLimit: 10 } } }))
      expect((await app.inject(sent(add('12345678')))).json()).toEqual({ result: { data: 8 } })
      const refused = await app.inject(sent(add('123456789')))
      expect(refused.statusCode).toBe(413)
      expect(refused.json()).toMatchObject({ code: 'FST_ERR_CTP_BODY_TOO_LARGE' })
      expect(refused.headers.connection).toBe('close')
    })

    it('counts bytes, not characters', async () => {
      const app = await serveRuled(() => ({ fastPath, procedures: { 'post.add': { bodyLimit: 10 } } }))
      expect((await app.inject(chunked(add('äöüß')))).statusCode).toBe(200)
      expect((await app.inject(chunked(add('äöüßä')))).statusCode).toBe(413)
    })

    it('may exceed the limit of the app, for its procedures only', async () => {
      const app = await serveRuled(() => ({ fastPath, procedures: { 'post.add': { bodyLimit: 1000 } } }), {
        fastify: { bodyLimit: 100 },
      })
      const long = 'x'.repeat(500)
      for (const sent of [(request: InjectOptions) => request, chunked]) {
        expect((await app.inject(sent(add(long)))).json()).toEqual({ result: { data: 500 } })
        expect((await app.inject(sent({ ...add(long), url: '/trpc/hello' }))).statusCode).toBe(413)
      }
    })

    it.each([
      ['with a length', (body: string) => body, 413],
      // Older versions of tRPC read them to the end.
      ['in chunks', (body: string) => new Blob([body]).stream(), HAS.maxBodySize ? 413 : 200],
    ])('holds for uploads %s', async (_name, sent, status) => {
      const app = await serveRuled(() => ({ fastPath, procedures: { 'post.add': { bodyLimit: 500 } } }))
      const address = await app.listen({ port: 0, host: '127.0.0.1' })
      const upload = async (length: number): Promise<number> => {
        const part = `content-disposition: form-data; name="text"\r\n\r\n${'a'.repeat(length)}`
        const response = await fetch(`${address}/trpc/post.add`, {
          method: 'POST',
          headers: { 'content-type': 'multipart/form-data; boundary=x' },
          body: sent(`--x\r\n${part}\r\n--x--\r\n`),
          duplex: 'half',
        })
        await response.text()
        return response.status
      }
      expect(await upload(100)).toBe(200)
      expect(await upload(1000)).toBe(status)
    })

    it("is the smallest limit of a batch's procedures", async () => {
      const app = await serveRuled(() => ({
        fastPath,
        procedures: { 'post.*': { bodyLimit: 1000 }, 'post.add': { bodyLimit: 50 } },
      }))
      const batch = (length: number, ...paths: string[]): InjectOptions => ({
        ...add(''),
        url: batchOf(...paths),
        body: JSON.stringify({ 0: 'x'.repeat(length) }),
      })
      expect((await app.inject(batch(30, 'post.add', 'post.add'))).statusCode).toBe(200)
      expect((await app.inject(batch(100, 'post.add', 'post.add'))).statusCode).toBe(413)
      expect((await app.inject(batch(100, 'post.list', 'post.add'))).statusCode).toBe(413)
      expect((await app.inject(batch(100, 'post.list', 'post.list'))).statusCode).toBe(405)
    })
  })
})
