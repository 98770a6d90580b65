import { once } from 'node:events'
import { readFileSync } from 'node:fs'
import { connect as connectHttp2 } from 'node:http2'
import type { AddressInfo } from 'node:net'
import { connect as connectTls, type TLSSocket } from 'node:tls'
import websocket from '@fastify/websocket'
import Fastify from 'fastify'
import { fastifyWriteBatching } from 'fastify-write-batching'
import { expect, it, onTestFinished } from 'vitest'
import WebSocket from 'ws'
import { END } from '../helpers/app.ts'
import { sendOnAll, untilRound } from '../helpers/busy-ticks.ts'
import { connections, get, listen, RawClient } from '../helpers/raw-client.ts'

const certificate = {
  key: readFileSync(new URL('../fixtures/key.pem', import.meta.url)),
  cert: readFileSync(new URL('../fixtures/certificate.pem', import.meta.url)),
}

async function tlsConnections(port: number, count: number): Promise<RawClient[]> {
  const sockets = Array.from({ length: count }, () =>
    connectTls({ port, host: '127.0.0.1', ca: certificate.cert, checkServerIdentity: () => undefined }),
  )
  onTestFinished(() => sockets.forEach((socket: TLSSocket) => void socket.destroy()))
  await Promise.all(sockets.map((socket) => once(socket, 'secureConnect')))
  return sockets.map((socket) => new RawClient(socket))
}

it('batches responses over TLS', async () => {
  const app = Fastify({ https: certificate })
  onTestFinished(() => app.close())
  await app.register(fastifyWriteBatching)
  app.get('/', async () => END)
  await app.listen({ host: '127.0.0.1', port: 0 })
  const clients = await tlsConnections((app.server.address() as AddressInfo).port, 4)
  const isBatched = (): boolean => app.writeBatchingStats().batched > 0
  expect(await untilRound(isBatched, () => sendOnAll(clients, get('/'), END))).toBe(true)
})

it('leaves HTTP/2 alone', async () => {
  const app = Fastify({ http2: true })
  onTestFinished(() => app.close())
  await app.register(fastifyWriteBatching)
  app.get('/', async () => END)
  const client = connectHttp2(await app.listen({ host: '127.0.0.1', port: 0 }))
  onTestFinished(() => client.destroy())
  const bodies = Array.from({ length: 20 }, async () => {
    let body = ''
    for await (const chunk of client.request({ ':path': '/' }).setEncoding('utf8')) body += String(chunk)
    return body
  })
  expect(new Set(await Promise.all(bodies))).toEqual(new Set([END]))
  expect(app.writeBatchingStats()).toEqual({ batched: 0, immediate: 0 })
})

it('leaves WebSockets alone', async () => {
  const app = Fastify()
  await app.register(fastifyWriteBatching)
  await app.register(websocket)
  app.get('/', async () => END)
  app.get('/echo', { websocket: true }, (socket) => {
    socket.on('message', (data: Buffer) => socket.send(String(data)))
  })
  const port = await listen(app)
  const sockets = Array.from({ length: 3 }, () => new WebSocket(`ws://127.0.0.1:${port}/echo`))
  onTestFinished(() => sockets.forEach((socket) => socket.terminate()))
  await Promise.all(sockets.map((socket) => once(socket, 'open')))
  const clients = await connections(port, 3)
  const isBatched = (): boolean => app.writeBatchingStats().batched > 0
  expect(await untilRound(isBatched, () => sendOnAll(clients, get('/'), END))).toBe(true)
  const before = app.writeBatchingStats()
  for (let round = 0; round < 20; round++) {
    const echoes = sockets.map((socket) => once(socket, 'message'))
    for (const socket of sockets) socket.send(`echo ${round}`)
    for (const [echo] of await Promise.all(echoes)) expect(String(echo)).toBe(`echo ${round}`)
  }
  expect(app.writeBatchingStats()).toEqual(before)
})
