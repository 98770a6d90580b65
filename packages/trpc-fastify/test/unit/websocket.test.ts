// `useWSS`: WebSockets are tRPC's own; here it is seen that they are reached, and with all options.

import { once } from 'node:events'
import { initTRPC } from '@trpc/server'
import Fastify from 'fastify'
import { createTrpcFastify, trpcPlugin, type TrpcPluginOptions } from 'trpc-fastify'
import { describe, expect, it, onTestFinished } from 'vitest'
import { WebSocket } from 'ws'
import { type Server, serveBoth } from '../helpers/both-servers.ts'
import { Journal } from '../helpers/journal.ts'
import { HAS } from '../helpers/peer-versions.ts'

const t = initTRPC.context<{ journal?: Journal }>().create({ isDev: false })
const router = t.router({
  greet: t.procedure.input((value) => String(value)).query(({ input }) => `Hello ${input}`),
  endless: t.procedure.subscription(async function* ({ signal, ctx }) {
    try {
      yield 'first'
      await once(signal!, 'abort')
    } finally {
      ctx.journal!.add('ends')
    }
  }),
})
type Options = TrpcPluginOptions<typeof router>

/** Both servers with options for WebSockets, until the test ends. */
async function serve(options: Partial<Options['trpcOptions']>): ReturnType<typeof serveBoth> {
  const both = await serveBoth<typeof router>((journal) => ({
    useWSS: true,
    trpcOptions: { router, createContext: () => ({ journal }), ...options },
  }))
  onTestFinished(() => both.close())
  return both
}

/** A connection, and the messages that come on it. */
async function connect({
  webSocketUrl,
}: Pick<Server, 'webSocketUrl'>): Promise<{ socket: WebSocket; messages: Journal<string> }> {
  const socket = new WebSocket(webSocketUrl)
  const messages = new Journal<string>()
  socket.on('message', (message: Buffer) => messages.add(message.toString()))
  socket.once('close', () => messages.add('closed'))
  await once(socket, 'open')
  onTestFinished(() => socket.terminate())
  return { socket, messages }
}

const call = (id: number, input: string): string =>
  JSON.stringify({ id, method: 'query', params: { path: 'greet', input } })
const answerTo = (id: number, data: string): string => JSON.stringify({ id, result: { type: 'data', data } })

describe('the options', () => {
  it('keepAlive sends pings as long as the client responds', async () => {
    const both = await serve({ keepAlive: { enabled: true, pingMs: 10, pongWaitMs: 10_000 } })
    const messages = await both.onBoth(async (server) => {
      const { socket, messages: got } = await connect(server)
      await got.until('PING')
      socket.send('PONG')
      await got.untilSome((message) => message === 'PING', 2)
      return got.entries.slice(0, 2)
    })
    expect(messages).toEqual(['PING', 'PING'])
  })

  it('keepAlive closes connections whose client does not respond', async () => {
    const both = await serve({ keepAlive: { enabled: true, pingMs: 10, pongWaitMs: 10 } })
    const messages = await both.onBoth(async (server) => {
      const { messages: got } = await connect(server)
      await got.until('closed')
      return got.entries
    })
    expect(messages).toEqual(['PING', 'closed'])
  })

  it.each([
    [false, ['PONG', answerTo(1, 'Hello Ada')]],
    [true, [answerTo(1, 'Hello Ada')]],
  ])('dangerouslyDisablePong: %s', async (dangerouslyDisablePong, expected) => {
    const both = await serve({ dangerouslyDisablePong })
    const messages = await both.onBoth(async (server) => {
      const { socket, messages: got } = await connect(server)
      socket.send('PING')
      socket.send(call(1, 'Ada'))
      await got.until(answerTo(1, 'Hello Ada'))
      return got.entries
    })
    expect(messages).toEqual(expected)
  })

  it('experimental_encoder encodes and decodes messages', async () => {
    const encoded = (text: string): string => Buffer.from(text).toString('base64')
    const both = await serve({
      experimental_encoder: {
        encode: (data) => encoded(JSON.stringify(data)),
        decode: (data) => JSON.parse(Buffer.from(data as string, 'base64').toString()) as unknown,
      },
    })
    const messages = await both.onBoth(async (server) => {
      const { socket, messages: got } = await connect(server)
      socket.send(encoded(call(1, 'Ada')))
      return got.untilSome(() => true)
    })
    expect(messages).toEqual([encoded(answerTo(1, 'Hello Ada'))])
  })

  it(`maxBatchSize ${HAS.maxBatchSizeOfWebSockets ? 'refuses larger batches' : 'is not known to this tRPC'}`, async () => {
    const both = await serve({ maxBatchSize: 1 })
    const messages = await both.onBoth(async (server) => {
      const { socket, messages: got } = await connect(server)
      socket.send(`[${call(1, 'Ada')},${call(2, 'Bob')}]`)
      return got.untilSome(() => true, 2)
    })
    const refused = expect.stringContaining('Batch call exceeds maximum size') as string
    expect(messages).toEqual(
      HAS.maxBatchSizeOfWebSockets ? [refused, refused] : [answerTo(1, 'Hello Ada'), answerTo(2, 'Hello Bob')],
    )
  })
})

describe('the servers', () => {
  it('serve HTTP at the same path', async () => {
    const both = await serve({})
    const results = await both.onBoth(async ({ app }) => {
      const [answer, none] = await Promise.all([app.inject('/trpc/greet?input="Ada"'), app.inject('/trpc')])
      return { body: answer.json<unknown>(), none: none.statusCode }
    })
    expect(results).toEqual({ body: { result: { data: 'Hello Ada' } }, none: 404 })
  })

  it('end subscriptions when they close', async () => {
    const both = await serve({})
    const results = await both.onBoth(async (server) => {
      const { socket, messages } = await connect(server)
      socket.send(JSON.stringify({ id: 1, method: 'subscription', params: { path: 'endless' } }))
      await messages.untilSome((message) => message.includes('first'))
      await server.app.close()
      await server.journal.until('ends')
      await messages.until('closed')
      return server.journal.entries
    })
    expect(results).toEqual(['ends'])
  })
})

describe('without @fastify/websocket', () => {
  it('trpcPlugin rejects', async () => {
    const registered = Fastify().register(trpcPlugin, { prefix: '/trpc', useWSS: true, trpcOptions: { router } })
    await expect(registered).rejects.toMatchObject({
      code: 'TRPC_FASTIFY_WEBSOCKET_MISSING',
      statusCode: 500,
      message: 'Option "useWSS" needs @fastify/websocket: register it before trpcPlugin.',
    })
  })

  it('trpcPlugin serves HTTP without useWSS', async () => {
    const app = Fastify()
    await app.register(trpcPlugin, { prefix: '/trpc', useWSS: false, trpcOptions: { router } })
    const answer = await app.inject('/trpc/greet?input="Ada"')
    expect(answer.json()).toEqual({ result: { data: 'Hello Ada' } })
  })
})

it('createTrpcFastify registers @fastify/websocket', async () => {
  const app = await createTrpcFastify({ router, prefix: '/trpc', useWSS: true, createContext: () => ({}) })
  onTestFinished(() => app.close())
  const address = await app.listen({ port: 0, host: '127.0.0.1' })
  const { socket, messages } = await connect({ webSocketUrl: `${address.replace('http', 'ws')}/trpc` })
  socket.send(call(1, 'Ada'))
  expect(await messages.untilSome(() => true)).toEqual([answerTo(1, 'Hello Ada')])
})
