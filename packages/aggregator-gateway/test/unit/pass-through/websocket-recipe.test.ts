// The recipe of docs/pass-through.md: WebSockets by `@fastify/http-proxy` beside a gateway.

import { once } from 'node:events'
import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import httpProxy from '@fastify/http-proxy'
import { expect, it, onTestFinished } from 'vitest'
import { WebSocket, WebSocketServer } from 'ws'
import { gateway, jsonUpstream } from '../../helpers/servers.ts'

async function echoServer(): Promise<string> {
  const server = createServer()
  const sockets = new WebSocketServer({ server })
  sockets.on('connection', (socket, { url }) => {
    socket.on('message', (data, isBinary) =>
      socket.send(isBinary ? data : `${url}: ${(data as Buffer).toString()}`, { binary: isBinary }),
    )
  })
  server.listen(0, '127.0.0.1')
  await once(server, 'listening')
  onTestFinished(() => {
    for (const socket of sockets.clients) socket.terminate()
    server.close()
  })
  return `http://127.0.0.1:${(server.address() as AddressInfo).port}`
}

async function start(): Promise<string> {
  const app = await gateway({
    upstreams: { it: await jsonUpstream((path) => path) },
    endpoints: [{ path: '/users/:id', calls: { user: { upstream: 'it', path: '/users/{params.id}' } } }],
  })
  await app.register(
    httpProxy as never,
    {
      prefix: '/chat',
      upstream: await echoServer(),
      websocket: true,
      preHandler: async ({ headers }: { headers: Record<string, unknown> }) => {
        if (headers['x-api-key'] !== 'secret') throw Object.assign(new Error('invalid'), { statusCode: 401 })
      },
    } as never,
  )
  return await app.listen({ port: 0, host: '127.0.0.1' })
}

it('WebSockets pass through beside the endpoints of the gateway', async () => {
  const address = await start()
  const socket = new WebSocket(`${address.replace('http', 'ws')}/chat/room`, { headers: { 'x-api-key': 'secret' } })
  onTestFinished(() => socket.terminate())
  await once(socket, 'open')
  socket.send('hello')
  const [text] = (await once(socket, 'message')) as [Buffer]
  expect(String(text)).toBe('/room: hello')
  socket.send(Buffer.from([1, 2]))
  expect(((await once(socket, 'message')) as [Buffer])[0]).toEqual(Buffer.from([1, 2]))
  expect(await (await fetch(`${address}/users/7`)).json()).toEqual({ user: '/users/7' })
  socket.close(1000)
  await once(socket, 'close')
})

it('a client without credentials gets a 401 in place of the upgrade', async () => {
  const address = await start()
  const socket = new WebSocket(`${address.replace('http', 'ws')}/chat/room`)
  const [, response] = (await once(socket, 'unexpected-response')) as [
    unknown,
    { statusCode: number; destroy: () => void },
  ]
  expect(response.statusCode).toBe(401)
  response.destroy()
})
