// Requests as they are written, where clients would make them proper.

import { once } from 'node:events'
import { type AddressInfo, connect } from 'node:net'
import type { FastifyInstance } from 'fastify'

/** Sends the text to an app that listens, and returns all that comes until the connection ends. */
export async function rawExchange(app: FastifyInstance, text: string): Promise<string> {
  const socket = connect((app.server.address() as AddressInfo).port, '127.0.0.1').setEncoding('utf8')
  let answer = ''
  socket.on('data', (part: string) => void (answer += part))
  socket.write(text)
  await once(socket, 'close')
  return answer
}
