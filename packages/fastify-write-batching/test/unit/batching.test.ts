import { createHook } from 'node:async_hooks'
import { createServer } from 'node:http'
import { once } from 'node:events'
import type { AddressInfo } from 'node:net'
import Fastify, { type FastifyInstance } from 'fastify'
import { batchConnection, createWriteBatch, fastifyWriteBatching } from 'fastify-write-batching'
import { describe, expect, it, onTestFinished } from 'vitest'
import { createApp, END } from '../helpers/app.ts'
import { sendOnAll, untilRound } from '../helpers/busy-ticks.ts'
import { connections, get, listen, type RawClient } from '../helpers/raw-client.ts'

/** An app that writes down when a handler sends a response, and when the response is written. */
async function journaled(events: string[], work: () => void = () => {}): Promise<FastifyInstance> {
  const app = Fastify()
  await app.register(fastifyWriteBatching)
  app.addHook('onResponse', (request, _reply, done) => (events.push(`${request.url} written`), done()))
  app.get('*', (request, reply) => {
    work()
    reply.send(END)
    events.push(`${request.url} sent`)
  })
  return app
}

/** Sends one request on each connection, with a path of its own, and returns the events of the tick. */
async function eventsOfRound(clients: readonly RawClient[], events: string[]): Promise<string[]> {
  events.length = 0
  for (const [index, { socket }] of clients.entries()) socket.write(get(`/${index}`))
  await Promise.all(clients.map((client) => client.until(END)))
  await expect.poll(() => events.length).toBe(2 * clients.length)
  return [...events]
}

describe('a busy tick', () => {
  it('writes its responses when all handlers have sent theirs', async () => {
    const events: string[] = []
    const app = await journaled(events)
    const clients = await connections(await listen(app), 3)
    let last: string[] = []
    const isBatched = (): boolean => last.slice(0, 3).every((event) => event.endsWith('sent'))
    const found = await untilRound(isBatched, async () => (last = await eventsOfRound(clients, events)))
    expect(found).toBe(true)
    const order = last.slice(0, 3).map((event) => event.split(' ')[0]!)
    expect(last.slice(3)).toEqual(order.map((path) => `${path} written`))
  })

  it('writes at most 32 responses at a time', async () => {
    const events: string[] = []
    const app = await journaled(events)
    const clients = await connections(await listen(app), 80)
    let mostWaiting = 0
    const round = async (): Promise<void> => {
      let waiting = 0
      for (const event of await eventsOfRound(clients, events)) {
        waiting += event.endsWith('sent') ? 1 : -1
        mostWaiting = Math.max(mostWaiting, waiting)
      }
    }
    expect(await untilRound(() => mostWaiting >= 32, round)).toBe(true)
    for (let more = 0; more < 5; more++) await round()
    // The response that makes it 32 is written before its handler returns, and is told of a little later.
    expect(mostWaiting).toBeLessThanOrEqual(33)
  })

  it('counts batched and immediate writes', async () => {
    const app = await createApp()
    const clients = await connections(await listen(app), 4)
    let requests = 0
    const round = async (): Promise<void> => {
      await sendOnAll(clients, get('/'), END)
      requests += clients.length
    }
    expect(await untilRound(() => app.writeBatchingStats().batched > 0, round)).toBe(true)
    const { batched, immediate } = app.writeBatchingStats()
    expect(batched + immediate).toBe(requests)
  })

  it('batches over both addresses of localhost', async () => {
    const app = await createApp()
    onTestFinished(() => app.close())
    await app.listen({ host: 'localhost', port: 0 })
    // Two servers where the machine has IPv6.
    for (const { address, port } of app.addresses() as AddressInfo[]) {
      const clients = await connections(port, 3, address)
      const { batched } = app.writeBatchingStats()
      const isBatched = (): boolean => app.writeBatchingStats().batched > batched
      expect(await untilRound(isBatched, () => sendOnAll(clients, get('/'), END))).toBe(true)
    }
  })
})

describe('a response is written immediately', () => {
  it('when its client is alone', async () => {
    const app = await createApp()
    const [client] = await connections(await listen(app), 1)
    for (let request = 0; request < 100; request++) await sendOnAll([client!], get('/'), END)
    expect(app.writeBatchingStats()).toEqual({ batched: 0, immediate: 100 })
  })

  it('without a timer when its client is alone', async () => {
    const app = await createApp()
    const [client] = await connections(await listen(app), 1)
    let timers = 0
    const hook = createHook({ init: (_id, type) => void (timers += Number(type === 'Immediate')) }).enable()
    onTestFinished(() => void hook.disable())
    for (let request = 0; request < 50; request++) await sendOnAll([client!], get('/'), END)
    // The first response does not know that its client is alone.
    expect(timers).toBeLessThanOrEqual(1)
  })

  it('when its client is alone and pipelines', async () => {
    const app = await createApp()
    const [client] = await connections(await listen(app), 1)
    const requests = get('/').repeat(9) + get('/last')
    for (let round = 0; round < 50; round++) await sendOnAll([client!], requests, 'Not Found","statusCode":404}')
    expect(app.writeBatchingStats().batched).toBe(0)
  })

  it('when it waits for an earlier one of its connection', async () => {
    const events: string[] = []
    const app = await journaled(events)
    const clients = await connections(await listen(app), 2)
    let wasBatched = false
    const found = await untilRound(
      () => wasBatched,
      async () => {
        const before = app.writeBatchingStats().batched
        for (const [index, { socket }] of clients.entries())
          socket.write(['a', 'b', 'c'].map((name) => get(`/${index}${name}`)).join(''))
        for (const client of clients) for (let response = 0; response < 3; response++) await client.until(END)
        const batched = app.writeBatchingStats().batched - before
        // Of the three responses of a connection, the first.
        expect(batched).toBeLessThanOrEqual(clients.length)
        wasBatched = batched === clients.length
      },
    )
    expect(found).toBe(true)
  })

  it('when the tick before had slow handlers', async () => {
    const app = await journaled([], () => {
      for (const until = performance.now() + 2; performance.now() < until;);
    })
    const clients = await connections(await listen(app), 4)
    for (let round = 0; round < 20; round++) await sendOnAll(clients, get('/'), END)
    expect(app.writeBatchingStats()).toEqual({ batched: 0, immediate: 80 })
  })

  it('when it has no body', async () => {
    const app = await createApp()
    app.get('/no-content', (_request, reply) => void reply.code(204).send())
    const clients = await connections(await listen(app), 4)
    for (let round = 0; round < 20; round++) await sendOnAll(clients, get('/no-content'), '\r\n\r\n')
    expect(app.writeBatchingStats().batched).toBe(0)
  })

  it('when it is larger than 1 MiB', async () => {
    const app = await createApp()
    const body = 'x'.repeat(2 ** 20) + END
    app.get('/large', async () => body)
    const clients = await connections(await listen(app), 4)
    for (let round = 0; round < 10; round++) await sendOnAll(clients, get('/large'), END)
    expect(app.writeBatchingStats()).toMatchObject({ batched: 0 })
  })

  it('when the app is called by inject()', async () => {
    const app = await createApp()
    onTestFinished(() => app.close())
    for (let round = 0; round < 20; round++) {
      const answers = await Promise.all([app.inject('/'), app.inject('/'), app.inject('/')])
      expect(answers.map(({ body }) => body)).toEqual([END, END, END])
    }
    expect(app.writeBatchingStats()).toEqual({ batched: 0, immediate: 0 })
  })
})

it('a plain server of node:http batches its connections', async () => {
  const batch = createWriteBatch()
  const server = createServer((request, response) => {
    batchConnection(request.socket, batch)
    response.end(END)
  }).listen(0, '127.0.0.1')
  onTestFinished(() => void server.close())
  await once(server, 'listening')
  const clients = await connections((server.address() as AddressInfo).port, 3)
  expect(
    await untilRound(
      () => batch.batched > 0,
      () => sendOnAll(clients, get('/'), END),
    ),
  ).toBe(true)
})
