// Pass-through endpoints, and raw connections to them.

import { once } from 'node:events'
import type { IncomingMessage } from 'node:http'
import { type AddressInfo, connect, type Socket } from 'node:net'
import type { FastifyInstance } from 'fastify'
import { onTestFinished } from 'vitest'
import type { PassThroughEndpointOptions, UpstreamOptions } from '../../src/index.ts'
import { gateway } from './servers.ts'

type PassThrough = PassThroughEndpointOptions['passThrough']

/** A gateway with one pass-through endpoint. */
export const passing = (
  origin: string | string[],
  passThrough: Partial<PassThrough> = {},
  endpoint: Partial<PassThroughEndpointOptions> = {},
  options: Partial<UpstreamOptions> = {},
): Promise<FastifyInstance> =>
  gateway({
    upstreams: { it: { origin, connectTimeout: 500, ...options } },
    endpoints: [
      {
        path: '/:id',
        timeout: 1000,
        ...endpoint,
        passThrough: { upstream: 'it', path: '/files/{params.id}', ...passThrough },
      },
    ],
    fastify: { routerOptions: { maxParamLength: 1000 } },
  })

export const listening = async (app: FastifyInstance): Promise<number> => {
  await app.listen({ port: 0, host: '127.0.0.1' })
  return (app.server.address() as AddressInfo).port
}

/** Opens a connection, sends a text, and records the received bytes. */
export const dial = async (
  port: number,
  text: string,
): Promise<{ socket: Socket; said: () => string; length: () => number; closed: Promise<string> }> => {
  const socket = connect(port, '127.0.0.1')
  onTestFinished(() => void socket.destroy())
  let received = ''
  let length = 0
  let end = 'closed'
  socket.setEncoding('latin1').on('data', (part: string) => {
    length += part.length
    if (length < 1_000_000) received += part
  })
  socket.on('end', () => (end = 'ended'))
  socket.on('error', (error: NodeJS.ErrnoException) => (end = error.code!))
  const closed = new Promise<string>((resolve) => socket.once('close', () => resolve(end)))
  await once(socket, 'connect')
  socket.write(text)
  return { socket, said: () => received, length: () => length, closed }
}

export const sent = async (request: IncomingMessage): Promise<Buffer> => {
  const chunks: Buffer[] = []
  for await (const chunk of request) chunks.push(chunk as Buffer)
  return Buffer.concat(chunks)
}
