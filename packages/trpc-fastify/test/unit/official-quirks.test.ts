// What people stumble over with the official adapter, and what the README tells them to do: the same on both.

import { once } from 'node:events'
import { connect } from 'node:net'
import { initTRPC } from '@trpc/server'
import { octetInputParser } from '@trpc/server/http'
import { fastifyTRPCPlugin } from '@trpc/server/adapters/fastify'
import Fastify, { type FastifyInstance } from 'fastify'
import { trpcPlugin } from 'trpc-fastify'
import { expect, it, onTestFinished } from 'vitest'
import { HAS, routing } from '../helpers/peer-versions.ts'

const t = initTRPC.create({ isDev: false })
const router = t.router({
  hello: t.procedure.query(() => 'world'),
  upload: t.procedure.input(octetInputParser).mutation(async ({ input }) => {
    let bytes = 0
    for await (const chunk of input) bytes += (chunk as Uint8Array).length
    return bytes
  }),
})

/** What a scenario shows on the official adapter and on ours, which must be the same. */
async function onBoth<T>(
  prepare: (app: FastifyInstance) => void,
  scenario: (address: string) => Promise<T>,
): Promise<T> {
  const [official, ours] = await Promise.all(
    [fastifyTRPCPlugin, trpcPlugin].map(async (plugin) => {
      const app = Fastify()
      onTestFinished(() => app.close())
      prepare(app)
      await app.register(plugin as typeof trpcPlugin<typeof router>, { prefix: '/trpc', trpcOptions: { router } })
      return scenario(await app.listen({ port: 0, host: '127.0.0.1' }))
    }),
  )
  expect(ours).toEqual(official)
  return ours as T
}

const upload = async (address: string): Promise<unknown> => {
  const headers = { 'content-type': 'application/octet-stream' }
  const response = await fetch(`${address}/trpc/upload`, { method: 'POST', headers, body: new Uint8Array(1000) })
  return [response.status, ((await response.json()) as { result?: unknown }).result]
}

it('Octet streams', async () => {
  expect(await onBoth(() => {}, upload)).toEqual([415, undefined])
  const withParser = (app: FastifyInstance): void => {
    app.addContentTypeParser('application/octet-stream', (_request, payload, done) => done(null, payload))
  }
  expect(await onBoth(withParser, upload)).toEqual([200, { data: 1000 }])
})

it('Status and headers of the reply', async () => {
  const seen = await onBoth(
    (app) =>
      void app.addHook('onRequest', async (_request, reply) => {
        reply.code(201).header('vary', 'cookie').header('x-own', 'kept')
      }),
    async (address) => {
      const { status, headers } = await fetch(`${address}/trpc/hello`)
      return [status, headers.get('vary'), headers.get('x-own')]
    },
  )
  expect(seen).toEqual([200, 'trpc-accept, accept', 'kept'])
})

it('Hosts', async () => {
  const head = await onBoth(
    () => {},
    async (address) => {
      const socket = connect(Number(new URL(address).port), '127.0.0.1').setEncoding('utf8')
      socket.write('GET /trpc/hello HTTP/1.1\r\nhost: a b\r\nconnection: close\r\n\r\n')
      const [answer] = (await once(socket, 'data')) as [string]
      return answer.slice(0, answer.indexOf('\r\n'))
    },
  )
  expect(head).toBe('HTTP/1.1 500 Internal Server Error')
})

it('Long batches', async () => {
  const ask = async (address: string): Promise<number> => {
    const { status } = await fetch(`${address}/trpc/${Array.from({ length: 20 }, () => 'hello').join(',')}?batch=1`)
    return status
  }
  expect(await onBoth(() => {}, ask)).toBe(HAS.longParameterError ? 414 : 404)
  const app = Fastify(routing({ maxParamLength: 5000 }))
  onTestFinished(() => app.close())
  await app.register(trpcPlugin<typeof router>, { prefix: '/trpc', trpcOptions: { router } })
  expect(await ask(await app.listen({ port: 0, host: '127.0.0.1' }))).toBe(200)
})
