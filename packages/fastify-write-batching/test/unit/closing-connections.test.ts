// What becomes of a response that waits when its connection closes, or the server does.

import Fastify, { type FastifyInstance } from 'fastify'
import { fastifyWriteBatching } from 'fastify-write-batching'
import { describe, expect, it } from 'vitest'
import { END } from '../helpers/app.ts'
import { sendOnAll, untilRound } from '../helpers/busy-ticks.ts'
import { connections, get, listen, type RawClient } from '../helpers/raw-client.ts'

/** An app that does something right when it has sent the response to `/last`. */
async function createApp(onSent: (app: FastifyInstance) => void): Promise<FastifyInstance> {
  const app = Fastify()
  await app.register(fastifyWriteBatching)
  app.get('/', async () => END)
  app.get('/last', (_request, reply) => {
    reply.send(END)
    onSent(app)
  })
  return app
}

/** Has a busy tick, then sends the last request on all connections in one tick. */
async function lastResponses(app: FastifyInstance, clients: readonly RawClient[]): Promise<string[]> {
  const isBusy = (): boolean => app.writeBatchingStats().batched > 0
  expect(await untilRound(isBusy, () => sendOnAll(clients, get('/'), END)), 'a busy tick').toBe(true)
  return sendOnAll(clients, get('/last'), END)
}

const CLOSE: Readonly<Record<string, (app: FastifyInstance) => unknown>> = {
  'the app closes': (app) => app.close(),
  'the server closes': (app) => app.server.close(),
  'idle connections are closed': (app) => app.server.closeIdleConnections(),
  'all connections are closed': (app) => setImmediate(() => app.server.closeAllConnections()),
}

describe('writes each response that waits', () => {
  it.each(Object.entries(CLOSE))('when %s', async (_name, close) => {
    let sent = 0
    const app = await createApp(() => {
      if (++sent === 3) close(app)
    })
    const clients = await connections(await listen(app), 3)
    for (const response of await lastResponses(app, clients)) expect(response).toMatch(/^HTTP\/1\.1 200 OK\r\n/)
  })
})

it('serves others when clients have gone before their responses are written', async () => {
  const leaving: RawClient[] = []
  let sent = 0
  const app = await createApp(() => {
    if (++sent === 1) for (const { socket } of leaving) socket.resetAndDestroy()
  })
  const port = await listen(app)
  const clients = await connections(port, 6)
  leaving.push(...clients.slice(3))
  const responses = await lastResponses(app, clients)
  expect(responses.slice(0, 3).every((response) => response.startsWith('HTTP/1.1 200 OK'))).toBe(true)
  const [next] = await connections(port, 1)
  expect(await sendOnAll([next!], get('/'), END)).toHaveLength(1)
})
