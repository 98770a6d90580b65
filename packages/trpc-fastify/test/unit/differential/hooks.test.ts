import cors from '@fastify/cors'
import { TRPCError } from '@trpc/server'
import type { FastifyInstance, FastifyReply } from 'fastify'
import { describe, it } from 'vitest'
import { compare, type ComparedRequest, type Mount, type Path, titled } from '../../helpers/differential/compare.ts'
import { SEE_ERRORS_OF_CALLS_FIRST, TWO_RESPONSES_RACE } from '../../helpers/differential/known-differences.ts'
import type { Recorder } from '../../helpers/differential/recorder.ts'
import { andStreamed, streamed } from '../../helpers/differential/requests.ts'
import { observed, observedTRPC } from '../../helpers/differential/router.ts'

/** What procedures do to the reply before they return. */
const TOUCHES: Readonly<Record<string, (reply: FastifyReply) => unknown>> = {
  header: (reply) => reply.header('x-procedure', '1'),
  vary: (reply) => reply.header('vary', 'procedure'),
  contentType: (reply) => reply.type('text/plain'),
  cookies: (reply) => reply.header('set-cookie', 'a=1').header('set-cookie', 'b=2'),
  code: (reply) => reply.code(418),
  serializer: (reply) => reply.serializer(() => 'serialized'),
  raw: (reply) => reply.raw.setHeader('x-raw', '1'),
  rawStatus: (reply) => (reply.raw.statusCode = 418),
  removed: (reply) => reply.removeHeader('x-request'),
  sent: (reply) => void reply.code(201).send({ sent: 'by the procedure' }),
  sentText: (reply) => void reply.send('text'),
  redirected: (reply) => void reply.redirect('/elsewhere'),
  hijacked(reply) {
    reply.hijack()
    reply.raw.writeHead(202, { 'x-hijacked': '1' }).end('hijacked')
  },
  endedRaw: (reply) => void reply.raw.writeHead(202).end('raw'),
}

const HOOKS: Readonly<Record<string, (app: FastifyInstance, recorder: Recorder) => unknown>> = {
  none: () => {},
  cors: (app) => app.register(cors, { origin: true, credentials: true, exposedHeaders: ['x-a'] }),
  corsOfOne: (app) => app.register(cors, { origin: ['https://example.com'], maxAge: 5 }),
  onRequest: (app) => app.addHook('onRequest', async (request, reply) => void reply.header('x-request', request.url)),
  onRequestReplying: (app) => app.addHook('onRequest', async (_request, reply) => reply.code(503).send({ down: true })),
  preHandlerReplying: (app) => app.addHook('preHandler', async (_request, reply) => reply.code(401).send('who?')),
  preHandlerThrowing: (app) => app.addHook('preHandler', () => Promise.reject(new Error('preHandler'))),
  preHandlerCallback: (app) => app.addHook('preHandler', (_request, _reply, done) => void setImmediate(done)),
  preParsing: (app) => app.addHook('preParsing', async (_request, _reply, payload) => payload),
  preSerialization: (app, recorder) =>
    app.addHook('preSerialization', async (_request, _reply, payload) => {
      recorder.see('preSerialization', payload)
      return payload
    }),
  onSend: (app) => app.addHook('onSend', (_request, reply, _payload, done) => (reply.header('x-send', '1'), done())),
  onSendAsync: (app) => app.addHook('onSend', async (_request, reply) => void reply.header('x-send', '1')),
  onSendLater: (app) =>
    app.addHook('onSend', async (_request, reply, payload) => {
      await new Promise(setImmediate)
      reply.header('x-send', '1')
      return payload
    }),
  onSendSeveral: (app) => {
    app.addHook('onSend', async (_request, reply) => void reply.header('set-cookie', 'one=1'))
    app.addHook('onSend', async (_request, reply) => void reply.header('set-cookie', 'two=2'))
  },
  onSendOverriding: (app) => app.addHook('onSend', async (_request, reply) => void reply.header('vary', 'hook')),
  onSendThrowing: (app) => app.addHook('onSend', async () => Promise.reject(new Error('onSend'))),
  onResponse: (app, recorder) =>
    app.addHook('onResponse', async (_request, reply) => {
      recorder.see('onResponse', [reply.statusCode, reply.getHeader('content-type'), reply.sent])
    }),
  onError: (app, recorder) =>
    app.addHook('onError', async (_request, _reply, error) => {
      recorder.see('fastify onError', error)
    }),
  errorHandler: (app) =>
    app.setErrorHandler((error, _request, reply) => reply.code(500).send({ handled: String(error) })),
  errorHandlerOfText: (app) => app.setErrorHandler((error, _request, reply) => reply.code(500).send(String(error))),
  replySerializer: (app) => app.setReplySerializer((payload) => JSON.stringify({ wrapped: payload })),
  schemaErrorFormatter: (app) => app.setSchemaErrorFormatter(() => new Error('schema')),
}

function mount(recorder: Recorder): Mount {
  const t = observedTRPC(recorder)
  const touching = (isAsync: boolean) =>
    Object.fromEntries(
      Object.entries(TOUCHES).map(([name, touch]) => [
        name,
        t.procedure.query(({ ctx }) => {
          touch(ctx.res)
          return isAsync ? Promise.resolve('touched') : 'touched'
        }),
      ]),
    )
  const router = t.router({
    ok: t.procedure.query(() => 'ok'),
    later: t.procedure.query(async () => {
      await new Promise(setImmediate)
      return 'later'
    }),
    failing: t.procedure.query(() => {
      throw new TRPCError({ code: 'NOT_FOUND' })
    }),
    mutation: t.procedure.input((value) => value).mutation(({ input }) => input),
    touching: touching(false),
    touchingLater: touching(true),
  })
  const options = observed(recorder)
  return {
    router,
    options: {
      ...options,
      responseMeta: ({ info }) => {
        // What no answer can be made of, so that Fastify's error handling has to.
        if (info?.url?.searchParams.has('broken')) throw new Error('meta')
        return info?.url?.searchParams.has('cookie') ? { headers: { 'set-cookie': ['meta=1', 'meta=2'] } } : {}
      },
    },
  }
}

describe.each(Object.entries(HOOKS))('hooks: %s', (hook, add) => {
  const comparison = compare(mount, { before: (app, recorder) => void add(app, recorder) })
  const replies = hook.endsWith('Replying') || hook === 'preHandlerThrowing'
  const on: Path = replies ? 'nothing' : 'compiled'
  const origin = { origin: 'https://example.com' }
  const all: ComparedRequest[] = [
    { url: '/trpc/ok', on },
    { url: '/trpc/later', on },
    { url: '/trpc/failing', on },
    { url: '/trpc/ok?broken', on },
    { url: '/trpc/ok?cookie', on },
    { url: '/trpc/ok', headers: origin, on },
    { url: '/trpc/ok,later,failing?batch=1', headers: origin, on },
    {
      method: 'POST',
      url: '/trpc/mutation',
      headers: { ...origin, 'content-type': 'application/json' },
      body: '1',
      on,
    },
    { url: '/trpc/ok,failing?batch=1&broken', on },
    { url: '/trpc/touching.cookies?cookie', on },
    { url: '/trpc/touching.sent', on },
    { url: '/trpc/touchingLater.sent', on },
  ]
  const requests = all.filter(({ url }) => !TWO_RESPONSES_RACE[hook]?.includes(url))
  const comparable = SEE_ERRORS_OF_CALLS_FIRST.includes(hook)
    ? requests.filter(({ url }) => !url.includes('broken'))
    : requests
  it.each(titled([...requests, ...streamed(comparable)]))('%s', async (_title, request) => {
    await comparison.request(request)
  })
  it.each(['cors', 'corsOfOne'].includes(hook) ? ['mutation', 'ok'] : [])('preflight of %s', async (path) => {
    const headers = {
      ...origin,
      'access-control-request-method': 'POST',
      'access-control-request-headers': 'content-type',
    }
    await comparison.request({ method: 'OPTIONS', url: `/trpc/${path}`, headers, on: 'nothing' })
  })
})

describe('replies touched by', () => {
  const comparison = compare(mount, {
    before: (app) => void app.addHook('onRequest', async (_request, reply) => void reply.header('x-request', '1')),
  })
  const requests = Object.keys(TOUCHES).flatMap((name): ComparedRequest[] => [
    { url: `/trpc/touching.${name}`, on: 'compiled' },
    { url: `/trpc/touchingLater.${name}`, on: 'compiled' },
    { url: `/trpc/ok,touching.${name}?batch=1`, on: 'compiled' },
  ])
  it.each(titled(andStreamed(requests)))('%s', async (_title, request) => {
    await comparison.request(request)
  })
})
