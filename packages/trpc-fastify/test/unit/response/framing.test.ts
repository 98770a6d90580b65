import { once } from 'node:events'
import { Agent, type IncomingMessage, request } from 'node:http'
import type { AddressInfo } from 'node:net'
import { text } from 'node:stream/consumers'
import { setTimeout as wait } from 'node:timers/promises'
import { initTRPC } from '@trpc/server'
import Fastify, { type FastifyInstance, type FastifyReply } from 'fastify'
import { describe, expect, it, onTestFinished } from 'vitest'
import { openApiPlugin, type OpenApiMeta } from '../../../src/openapi/plugin.ts'
import { trpcPlugin } from '../../../src/index.ts'

const t = initTRPC.meta<OpenApiMeta>().create()
const router = t.router({
  hello: t.procedure.meta({ openapi: { method: 'GET', path: '/hello' } }).query(() => 'hello world'),
  later: t.procedure.query(() => wait(20, 'hello world')),
  events: t.procedure.subscription(async function* () {
    yield 'hello'
    await wait(20)
    yield 'world'
  }),
})

type ResponseMeta = () => { headers: Record<string, string> | Headers }

const WRONG = { 'content-length': '3', 'transfer-encoding': 'gzip, chunked', 'x-other': '1' }

/** Who sets a length, and how. */
const SOURCES: Record<string, { responseMeta?: ResponseMeta; onRequest?: (reply: FastifyReply) => void }> = {
  'headers of responseMeta': { responseMeta: () => ({ headers: WRONG }) },
  'responseMeta, in upper case': { responseMeta: () => ({ headers: { 'Content-Length': '3', 'X-Other': '1' } }) },
  'responseMeta with Headers of an upstream response': { responseMeta: () => ({ headers: new Headers(WRONG) }) },
  'a hook': { onRequest: (reply) => void reply.header('content-length', '3').header('x-other', '1') },
  'a hook, raw': {
    onRequest: ({ raw }) => void raw.setHeader('content-length', '3').setHeader('x-other', '1'),
  },
}

const REQUESTS: Record<string, { path: string; stream?: true; body: RegExp }> = {
  'a result': { path: '/trpc/hello', body: /^\{"result":\{"data":"hello world"\}\}$/ },
  'a batch': { path: '/trpc/hello,hello?batch=1', body: /^\[.*"hello world".*"hello world".*\]$/ },
  'an error': { path: '/trpc/none', body: /^\{"error":.*\}$/s },
  'a streamed batch': { path: '/trpc/later,hello?batch=1', stream: true, body: /hello world[^]*hello world/ },
  'a subscription': { path: '/trpc/events', body: /hello[^]*world[^]*event: return\n[^]*\n\n$/ },
  'a REST result': { path: '/api/hello', body: /^"hello world"$/ },
}

async function serve(source: (typeof SOURCES)[string], fastPath: boolean): Promise<FastifyInstance> {
  const { responseMeta, onRequest } = source
  const app = Fastify()
  onTestFinished(() => app.close())
  if (onRequest) app.addHook('onRequest', async (_request, reply) => onRequest(reply))
  const trpcOptions = { router, ...(responseMeta && { responseMeta }) }
  await app.register(trpcPlugin, { prefix: '/trpc', trpcOptions, fastPath })
  await app.register(openApiPlugin, { prefix: '/api', trpcOptions })
  await app.listen({ port: 0, host: '127.0.0.1' })
  return app
}

describe.each(Object.entries(SOURCES))('a length that comes from %s', (_, source) => {
  it.each(
    [true, false].flatMap((fastPath) =>
      Object.entries(REQUESTS).map(
        ([name, one]) => [name, fastPath ? 'the fast path' : 'the fallback', fastPath, one] as const,
      ),
    ),
  )('is not that of %s, by %s', async (_name, _way, fastPath, { path, stream, body }) => {
    const app = await serve(source, fastPath)
    const { port } = app.server.address() as AddressInfo
    const agent = new Agent({ keepAlive: true, maxSockets: 1 })
    onTestFinished(() => agent.destroy())
    // Bytes beyond the length of the first response would be in the second.
    for (let turn = 0; turn < 2; turn++) {
      const sent = request({ port, path, agent, headers: stream ? { 'trpc-accept': 'application/jsonl' } : {} }).end()
      const [response] = (await once(sent, 'response')) as [IncomingMessage]
      expect(await text(response)).toMatch(body)
      const { headers } = response
      expect(headers['x-other']).toBe('1')
      expect([headers['content-length'] !== '3', headers['transfer-encoding'] ?? 'chunked']).toEqual([true, 'chunked'])
      expect('content-length' in headers && 'transfer-encoding' in headers).toBe(false)
    }
  })
})
