// Of a header that a hook and `responseMeta` set, which one is sent, and in which order come cookies of both.

import cookie from '@fastify/cookie'
import { TRPCError } from '@trpc/server'
import type { FastifyInstance, FastifyReply } from 'fastify'
import { beforeAll, describe, expect, it } from 'vitest'
import { compare, type ComparedRequest, type Mount, titled } from '../../helpers/differential/compare.ts'
import { HOOKS_FAIL_STREAMS } from '../../helpers/differential/known-differences.ts'
import { STREAM } from '../../helpers/differential/requests.ts'
import { observed, observedTRPC } from '../../helpers/differential/router.ts'

const setByHook = (reply: FastifyReply): unknown =>
  reply
    .code(203)
    .header('set-cookie', 'session=hook; Path=/')
    .header('set-cookie', 'hook=1')
    .header('cache-control', 'hook')
    .header('Vary', 'hook')
    .header('x-hook', '1')

const HOOKS: Readonly<Record<string, (app: FastifyInstance) => unknown>> = {
  none: () => {},
  onRequest: (app) => app.addHook('onRequest', async (_request, reply) => void setByHook(reply)),
  preHandler: (app) => app.addHook('preHandler', async (_request, reply) => void setByHook(reply)),
  preHandlerRaw: (app) =>
    app.addHook('preHandler', async (_request, { raw }) => void raw.setHeader('cache-control', 'raw')),
  preHandlerContentType: (app) => app.addHook('preHandler', async (_request, reply) => void reply.type('text/html')),
  onSend: (app) => app.addHook('onSend', (_request, reply, _payload, done) => (setByHook(reply), done())),
  onSendAsync: (app) => app.addHook('onSend', async (_request, reply) => void setByHook(reply)),
  onSendContentType: (app) => app.addHook('onSend', async (_request, reply) => void reply.type('text/html')),
  onSendRemoving: (app) =>
    app.addHook('onSend', async (_request, reply) => {
      for (const name of ['content-type', 'vary', 'cache-control', 'set-cookie']) reply.removeHeader(name)
    }),
  onSendThrowing: (app) =>
    app.addHook('onSend', async (_request, reply) => {
      if (reply.statusCode === 500) return
      setByHook(reply)
      throw new Error('onSend')
    }),
  onRequestBeforeThrowing(app) {
    app.addHook('onRequest', async (_request, reply) => void setByHook(reply))
    app.addHook('onSend', () => Promise.reject(new Error('onSend')))
  },
  onRoute: (app) =>
    app.addHook('onRoute', (route) => {
      route.onSend = [
        route.onSend ?? [],
        async (_request: unknown, reply: FastifyReply) => void setByHook(reply),
      ].flat()
    }),
  async plugin(app) {
    await app.register(cookie)
    app.addHook('preHandler', async (_request, reply) => void reply.setCookie('session', 'hook').setCookie('hook', '1'))
  },
}

const METAS: Readonly<Record<string, () => object>> = {
  nothing: () => ({}),
  'a cookie': () => ({ headers: { 'set-cookie': 'session=meta; Path=/' } }),
  cookies: () => ({ headers: { 'set-cookie': ['session=meta; Path=/', 'meta=1'] } }),
  headers: () => ({ headers: { 'cache-control': 'meta', vary: 'meta', 'x-meta': '1' }, status: 202 }),
  'cookies and headers': () => ({
    headers: new Headers([
      ['set-cookie', 'session=meta; Path=/'],
      ['set-cookie', 'meta=1'],
      ['cache-control', 'meta'],
    ]),
  }),
  'a content type': () => ({ headers: { 'content-type': 'application/problem+json' } }),
}

const REQUESTS: readonly ComparedRequest[] = [
  { url: '/trpc/ok', on: 'compiled' },
  { url: '/trpc/later', on: 'compiled' },
  { url: '/trpc/failing', on: 'compiled' },
  { url: '/trpc/unknown', on: 'procedure' },
  {
    method: 'POST',
    url: '/trpc/mutation',
    headers: { 'content-type': 'application/json' },
    body: '1',
    on: 'compiled',
  },
  { url: '/trpc/ok,later?batch=1', on: 'compiled' },
  { url: '/trpc/ok,failing?batch=1', on: 'compiled' },
  { name: 'a streamed batch', url: '/trpc/ok,failing?batch=1', headers: STREAM, on: 'compiled' },
  { name: 'a streamed batch with a late value', url: '/trpc/ok,promise?batch=1', headers: STREAM, on: 'compiled' },
  { name: 'a subscription', url: '/trpc/events', on: 'compiled' },
  { name: 'a subscription that fails', url: '/trpc/failingEvents', on: 'compiled' },
]

describe.each(Object.entries(HOOKS))('headers of a hook: %s', (hook, add) => {
  let meta: () => object
  const comparison = compare(
    (recorder): Mount => {
      const t = observedTRPC(recorder)
      const failing = (): never => {
        throw new TRPCError({ code: 'NOT_FOUND' })
      }
      const router = t.router({
        ok: t.procedure.query(() => 'ok'),
        later: t.procedure.query(async () => {
          await new Promise(setImmediate)
          return 'later'
        }),
        failing: t.procedure.query(failing),
        mutation: t.procedure.mutation(() => 'ok'),
        promise: t.procedure.query(() => ({ later: new Promise((resolve) => setImmediate(resolve, 'later')) })),
        events: t.procedure.subscription(async function* events() {
          yield 1
        }),
        failingEvents: t.procedure.subscription(failing),
      })
      return { router, options: { ...observed(recorder), responseMeta: () => meta() } }
    },
    { before: async (app) => void (await add(app)) },
  )

  describe.each(Object.entries(METAS))('and of responseMeta: %s', (_name, chosen) => {
    beforeAll(() => {
      meta = chosen
    })
    const requests = REQUESTS.filter(
      ({ name }) => !(HOOKS_FAIL_STREAMS.includes(hook) && name === 'a subscription that fails'),
    )
    it.each(titled(requests))('%s', async (_title, request) => {
      await comparison.request(request)
    })
  })

  if (hook !== 'plugin') return
  it('sends the cookie of responseMeta last, which browsers keep', async () => {
    meta = METAS['a cookie']!
    const { headers } = await comparison.request(REQUESTS[0]!)
    expect(headers['set-cookie']).toEqual([
      'session=hook; SameSite=Lax',
      'hook=1; SameSite=Lax',
      'session=meta; Path=/',
    ])
  })
})
