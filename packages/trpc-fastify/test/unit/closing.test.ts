// `endStreamsOnClose`: the app closes though clients are listening, and they know where to go on.

import { once } from 'node:events'
import websocket from '@fastify/websocket'
import { initTRPC, tracked } from '@trpc/server'
import Fastify, { type FastifyInstance } from 'fastify'
import { createTrpcFastify, reconnectOnClose, trpcPlugin } from 'trpc-fastify'
import { describe, expect, it, onTestFinished } from 'vitest'
import { WebSocket } from 'ws'
import { FAST_PATHS } from '../helpers/fast-paths.ts'
import { Journal } from '../helpers/journal.ts'

function makeRouter(journal: Journal, gate: Promise<unknown>) {
  const t = initTRPC.create({ isDev: false })
  return t.router({
    hello: t.procedure.query(() => 'world'),
    gated: t.procedure.query(async () => {
      journal.add('gated begins')
      await gate
      return 'done'
    }),
    count: t.procedure.subscription(async function* ({ signal }) {
      try {
        for (let count = 1; ; count++) {
          yield tracked(String(count), count)
          if (count === 2) await once(signal!, 'abort')
          if (signal!.aborted) return
        }
      } finally {
        journal.add('count ends')
      }
    }),
  })
}

async function serve(
  fastPath: boolean,
  make: (options: { router: ReturnType<typeof makeRouter>; fastPath: boolean }) => Promise<FastifyInstance> = async ({
    router,
    fastPath: wanted,
  }) => {
    const app = Fastify()
    await app.register(websocket, { preClose: reconnectOnClose })
    await app.register(trpcPlugin<typeof router>, {
      prefix: '/trpc',
      useWSS: true,
      fastPath: wanted,
      endStreamsOnClose: true,
      trpcOptions: { router },
    })
    return app
  },
): Promise<{ app: FastifyInstance; url: string; journal: Journal; open: () => void }> {
  const journal = new Journal()
  const gate = Promise.withResolvers<undefined>()
  const app = await make({ router: makeRouter(journal, gate.promise), fastPath })
  const address = await app.listen({ port: 0, host: '127.0.0.1' })
  return { app, journal, url: `${address}/trpc`, open: () => gate.resolve(undefined) }
}

/** Reads until there is such a text, gives the rest as it comes. */
async function listen(url: string, text: string): Promise<{ rest: () => Promise<string> }> {
  const response = await fetch(url)
  const reader = response.body!.pipeThrough(new TextDecoderStream()).getReader()
  for (let read = ''; !read.includes(text);) read += (await reader.read()).value ?? ''
  return {
    async rest() {
      let read = ''
      for (;;) {
        const { done, value } = await reader.read()
        if (done) return read
        read += value
      }
    },
  }
}

async function connect(url: string): Promise<{ socket: WebSocket; seen: Journal<string> }> {
  const socket = new WebSocket(url.replace('http', 'ws'))
  onTestFinished(() => socket.terminate())
  const seen = new Journal<string>()
  socket.on('message', (message: Buffer) => seen.add(message.toString()))
  socket.once('close', (code) => seen.add(`closed ${code}`))
  await once(socket, 'open')
  return { socket, seen }
}

const RECONNECT = JSON.stringify({ id: null, method: 'reconnect' })

describe.each(FAST_PATHS)('with fastPath %s', (fastPath) => {
  it('ends subscriptions so that clients reconnect, and aborts their procedures', async () => {
    const { app, journal, url } = await serve(fastPath)
    const { rest } = await listen(`${url}/count`, 'id: 2')
    await app.close()
    await journal.until('count ends')
    // No `return`: to clients that would be the end of the subscription. By tRPC's own handler the connection breaks.
    const outcome = await rest().catch((error: Error) => error.name)
    expect(outcome).toBe(fastPath ? '' : 'TypeError')
  })

  it('asks WebSocket clients to reconnect, and responds to their calls before it closes', async () => {
    const { app, journal, url, open } = await serve(fastPath)
    const { socket, seen } = await connect(url)
    const { seen: idle } = await connect(url)
    socket.send(JSON.stringify({ id: 1, method: 'query', params: { path: 'gated' } }))
    await journal.until('gated begins')
    const closed = app.close()
    await seen.until(RECONNECT)
    open()
    await closed
    await seen.until('closed 1012')
    expect(seen.entries).toEqual([
      RECONNECT,
      JSON.stringify({ id: 1, result: { type: 'data', data: 'done' } }),
      'closed 1012',
    ])
    await idle.until('closed 1012')
    expect(idle.entries).toEqual([RECONNECT, 'closed 1012'])
  })

  it('does not wait for subscriptions over WebSockets, nor for a disconnected client', async () => {
    const { app, journal, url } = await serve(fastPath)
    const { socket, seen } = await connect(url)
    socket.send(JSON.stringify({ id: 1, method: 'subscription', params: { path: 'count' } }))
    await seen.untilSome((message) => message.includes('"id":"2"'))
    const { socket: leaving } = await connect(url)
    leaving.send(JSON.stringify({ id: 1, method: 'query', params: { path: 'gated' } }))
    await journal.until('gated begins')
    const closed = app.close()
    await seen.until(RECONNECT)
    leaving.terminate()
    await closed
    await seen.until('closed 1012')
    await journal.until('count ends')
  })
})

it('createTrpcFastify asks clients to reconnect by itself', async () => {
  const { app, url } = await serve(true, ({ router }) =>
    createTrpcFastify({ router, prefix: '/trpc', useWSS: true, endStreamsOnClose: true }),
  )
  const { seen } = await connect(url)
  const { rest } = await listen(`${url}/count`, 'id: 2')
  await app.close()
  await seen.until('closed 1012')
  expect(seen.entries).toEqual([RECONNECT, 'closed 1012'])
  expect(await rest()).toBe('')
})

describe('the log of an app that loses calls on shutdown', () => {
  /** Closes an app with a pending call and an idle client. Gives its warnings. */
  async function warningsOf(options: { asks: boolean; endStreamsOnClose: boolean; path?: string }): Promise<unknown[]> {
    const lines: { level: number; connections?: number; msg: string }[] = []
    const stream = { write: (line: string) => void lines.push(JSON.parse(line) as (typeof lines)[number]) }
    const { app, url, journal, open } = await serve(true, async ({ router }) => {
      const made = Fastify({ logger: { stream } })
      await made.register(websocket, options.asks ? { preClose: reconnectOnClose } : {})
      await made.register(trpcPlugin<typeof router>, {
        prefix: '/trpc',
        useWSS: true,
        endStreamsOnClose: options.endStreamsOnClose,
        trpcOptions: { router },
      })
      made.get('/echo', { websocket: true }, (socket) => socket.send('ready'))
      return made
    })
    const { seen } = await connect(options.path ? url.replace('/trpc', options.path) : url)
    if (!options.path) {
      const { socket } = await connect(url)
      socket.send(JSON.stringify({ id: 1, method: 'query', params: { path: 'gated' } }))
      await journal.until('gated begins')
    }
    const closed = app.close()
    await seen.untilSome((entry) => entry === RECONNECT || entry.startsWith('closed'))
    open()
    await closed
    return lines.filter(({ level }) => level >= 40).map(({ connections, msg }) => ({ connections, msg }))
  }

  it('names endStreamsOnClose, if only reconnectOnClose is set', async () => {
    expect(await warningsOf({ asks: true, endStreamsOnClose: false })).toEqual([
      {
        connections: 2,
        msg: 'WebSockets were closed without waiting for their calls: reconnectOnClose needs endStreamsOnClose of the router',
      },
    ])
  })

  it('names reconnectOnClose, if only endStreamsOnClose is set', async () => {
    expect(await warningsOf({ asks: false, endStreamsOnClose: true })).toEqual([
      {
        connections: 1,
        msg: 'WebSockets were closed with pending calls: pass preClose: reconnectOnClose to @fastify/websocket',
      },
    ])
  })

  it('is silent, if both are set or none', async () => {
    expect(await warningsOf({ asks: true, endStreamsOnClose: true })).toEqual([])
    expect(await warningsOf({ asks: false, endStreamsOnClose: false })).toEqual([])
  })

  it('says nothing of WebSockets that are not served by tRPC', async () => {
    expect(await warningsOf({ asks: true, endStreamsOnClose: false, path: '/echo' })).toEqual([])
    expect(await warningsOf({ asks: false, endStreamsOnClose: true, path: '/echo' })).toEqual([])
  })
})

it('releases streams that have ended', async () => {
  const { app, url, journal } = await serve(true)
  const client = new AbortController()
  const response = await fetch(`${url}/count`, { signal: client.signal })
  await response.body!.getReader().read()
  client.abort()
  await journal.until('count ends')
  await app.close()
  expect(journal.entries).toEqual(['count ends'])
})
