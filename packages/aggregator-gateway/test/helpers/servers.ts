// Upstreams with real sockets, and a gateway before them. All end with the test.

import { createServer, type IncomingMessage, type RequestListener, type ServerResponse } from 'node:http'
import { type AddressInfo, createServer as createTcpServer, type Server, type Socket } from 'node:net'
import { once } from 'node:events'
import type { FastifyInstance } from 'fastify'
import { onTestFinished } from 'vitest'
import { createAggregatorGateway } from '../../src/index.ts'
import type { CallOptions, CreateAggregatorGatewayOptions } from '../../src/index.ts'

async function listening(server: Server): Promise<string> {
  const sockets = new Set<Socket>()
  server.on('connection', (socket: Socket) => {
    sockets.add(socket)
    socket.once('close', () => sockets.delete(socket))
  })
  server.listen(0, '127.0.0.1')
  await once(server, 'listening')
  onTestFinished(() => {
    for (const socket of sockets) socket.destroy()
    server.close()
  })
  return `http://127.0.0.1:${(server.address() as AddressInfo).port}`
}

/** An HTTP server; gives its origin. */
export function upstream(listener: RequestListener): Promise<string> {
  return listening(createServer(listener))
}

/** A server that answers JSON: what the function makes of a request's path. */
export function jsonUpstream(answer: (path: string, request: IncomingMessage) => unknown): Promise<string> {
  return upstream((request, response) => {
    sendJson(response, JSON.stringify(answer(request.url!, request)))
  })
}

export function sendJson(response: ServerResponse, text: string): void {
  response.writeHead(200, { 'content-type': 'application/json' }).end(text)
}

/** A server that does what it wants with its connections. */
export function tcpUpstream(onConnection: (socket: Socket) => void): Promise<string> {
  return listening(
    createTcpServer((socket) => {
      socket.on('error', () => {})
      onConnection(socket)
    }),
  )
}

/** An origin where nobody listens. */
export async function nobody(): Promise<string> {
  const server = createTcpServer()
  server.listen(0, '127.0.0.1')
  await once(server, 'listening')
  const { port } = server.address() as AddressInfo
  server.close()
  await once(server, 'close')
  return `http://127.0.0.1:${port}`
}

/** A gateway that is closed after the test. */
export async function gateway<const Endpoints extends readonly unknown[]>(
  options: CreateAggregatorGatewayOptions<Endpoints>,
): Promise<FastifyInstance> {
  const app = await createAggregatorGateway(options)
  onTestFinished(() => app.close())
  return app
}

/** A gateway with one endpoint `/`, whose calls all go to one upstream. */
export function gatewayOf(
  origin: string,
  calls: Readonly<Record<string, Omit<CallOptions, 'upstream'>>>,
  endpoint: {
    method?: 'POST'
    timeout?: number
    path?: string
    compose?: 'object' | 'array' | 'merge'
    allowAllFailed?: boolean
  } = {},
  observers: CreateAggregatorGatewayOptions['observers'] = [],
): Promise<FastifyInstance> {
  const all = Object.fromEntries(Object.entries(calls).map(([name, call]) => [name, { upstream: 'it', ...call }]))
  return gateway({
    upstreams: { it: { origin, maxResponseBytes: 10_000, connectTimeout: 500 } },
    endpoints: [{ path: '/', timeout: 1000, calls: all, ...endpoint }],
    observers,
  })
}
