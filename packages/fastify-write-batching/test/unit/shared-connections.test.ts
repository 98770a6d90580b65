// The plugin beside other code that uses the same connections.

import { AsyncLocalStorage } from 'node:async_hooks'
import { setFlagsFromString } from 'node:v8'
import { runInNewContext } from 'node:vm'
import Fastify from 'fastify'
import { fastifyWriteBatching } from 'fastify-write-batching'
import { expect, it } from 'vitest'
import { createApp, END } from '../helpers/app.ts'
import { sendOnAll, untilRound } from '../helpers/busy-ticks.ts'
import { connections, get, listen } from '../helpers/raw-client.ts'

it('calls onResponse hooks in the async context of their requests', async () => {
  const app = Fastify()
  const user = new AsyncLocalStorage<string>()
  const seen: [string, string | undefined][] = []
  app.addHook('onRequest', (request, _reply, done) => user.run(request.url, done))
  await app.register(fastifyWriteBatching)
  app.addHook('onResponse', async (request) => void seen.push([request.url, user.getStore()]))
  app.get('*', async () => END)
  const clients = await connections(await listen(app), 5)
  const isBatched = (): boolean => app.writeBatchingStats().batched > 20
  const round = async (): Promise<void> => {
    for (const [index, { socket }] of clients.entries()) socket.write(get(`/${index}`))
    await Promise.all(clients.map((client) => client.until(END)))
  }
  expect(await untilRound(isBatched, round)).toBe(true)
  expect(seen.filter(([url, store]) => url !== store)).toEqual([])
})

it('keeps nothing of a request when its response is written', async () => {
  setFlagsFromString('--expose-gc')
  const collectGarbage = runInNewContext('gc') as () => void
  const app = await createApp()
  const payloads: WeakRef<object>[] = []
  app.addHook('preSerialization', async (_request, _reply, payload) => {
    payloads.push(new WeakRef(payload as object))
    return payload
  })
  app.get('/json', async () => ({ secret: END }))
  const clients = await connections(await listen(app), 4)
  const isBatched = (): boolean => app.writeBatchingStats().batched > 20
  expect(await untilRound(isBatched, () => sendOnAll(clients, get('/json'), '}'))).toBe(true)
  const kept = (): number => {
    collectGarbage()
    return payloads.filter((payload) => payload.deref() !== undefined).length
  }
  await expect.poll(kept).toBe(0)
})

it.each(['uncork', 'destroy'] as const)(
  'leaves connections alone whose method %s another library has replaced',
  async (method) => {
    const app = await createApp()
    app.server.prependListener('connection', (socket) => {
      const replaced = socket[method].bind(socket) as () => never
      Object.assign(socket, { [method]: () => replaced() })
    })
    const clients = await connections(await listen(app), 4)
    for (let round = 0; round < 20; round++) await sendOnAll(clients, get('/'), END)
    expect(app.writeBatchingStats()).toEqual({ batched: 0, immediate: 0 })
  },
)

it('writes what the app corks itself when the app uncorks it', async () => {
  const app = await createApp()
  app.get('/corked', (request, reply) => {
    reply.hijack()
    const { socket } = request.raw
    reply.raw.end('first')
    // The response waits for the end of the tick, if the tick before was busy.
    socket.cork()
    setImmediate(() => setImmediate(() => socket.uncork()))
  })
  const clients = await connections(await listen(app), 4)
  const isBatched = (): boolean => app.writeBatchingStats().batched > 20
  expect(await untilRound(isBatched, () => sendOnAll(clients, get('/corked'), 'first'))).toBe(true)
  expect(await sendOnAll(clients, get('/'), END)).toHaveLength(4)
})

it('writes what the app corks and uncorks while a response waits', async () => {
  const app = await createApp()
  app.get('/corked', (request, reply) => {
    reply.send('corked')
    request.raw.socket.cork()
    request.raw.socket.uncork()
  })
  const clients = await connections(await listen(app), 4)
  const isBatched = (): boolean => app.writeBatchingStats().batched > 20
  expect(await untilRound(isBatched, () => sendOnAll(clients, get('/corked'), 'corked'))).toBe(true)
})

it('does not let a stream to a client that does not read grow', async () => {
  const app = await createApp()
  let mostBuffered = 0
  app.get('/endless', (request, reply) => {
    reply.hijack()
    const { raw } = reply
    const write = (): void => {
      while (!raw.destroyed && raw.write('x'.repeat(1000)));
      mostBuffered = Math.max(mostBuffered, request.raw.socket.writableLength)
      raw.once('drain', write)
    }
    write()
  })
  const port = await listen(app)
  const readers = await connections(port, 3)
  const idle = await connections(port, 3)
  for (const { socket } of idle) {
    socket.pause()
    socket.write(get('/endless'))
  }
  const isBatched = (): boolean => app.writeBatchingStats().batched > 20
  expect(await untilRound(isBatched, () => sendOnAll(readers, get('/'), END))).toBe(true)
  expect(mostBuffered).toBeGreaterThan(0)
  expect(mostBuffered).toBeLessThan(2 * readers[0]!.socket.writableHighWaterMark)
})
