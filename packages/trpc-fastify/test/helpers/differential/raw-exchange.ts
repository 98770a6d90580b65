// Writes bytes to a connection and reads the answer, for requests that no client would send.

import { once } from 'node:events'
import { connect, type AddressInfo } from 'node:net'
import type { FastifyInstance } from 'fastify'
import type { Exchange } from './exchange.ts'

/** Sends bytes to an app that listens; the answer must end, by itself or with the connection. */
export async function rawExchange(app: FastifyInstance, bytes: string | Buffer): Promise<Exchange> {
  if (!app.server.listening) await app.listen({ port: 0, host: '127.0.0.1' })
  const { port } = app.server.address() as AddressInfo
  const socket = connect(port, '127.0.0.1')
  const chunks: Buffer[] = []
  socket.on('data', (chunk) => {
    chunks.push(chunk)
    // Answers with events ask for the connection to stay.
    if (chunk.toString('latin1').endsWith('0\r\n\r\n')) socket.end()
  })
  socket.setTimeout(1000, () => socket.destroy(new Error(`No answer to ${JSON.stringify(String(bytes))}`)))
  socket.write(typeof bytes === 'string' ? Buffer.from(bytes, 'latin1') : bytes)
  await once(socket, 'close')
  const text = Buffer.concat(chunks).toString('latin1')
  return parsed(text.replace(/^HTTP\/1\.1 100 Continue\r\n\r\n/, ''))
}

function parsed(text: string): Exchange {
  const end = text.indexOf('\r\n\r\n')
  const [statusLine = '', ...lines] = text.slice(0, end).split('\r\n')
  const headers: Record<string, unknown> = {}
  for (const line of lines) {
    const colon = line.indexOf(':')
    const name = line.slice(0, colon).toLowerCase()
    const value = line.slice(colon + 1).trim()
    headers[name] = name in headers ? [headers[name], value].flat() : value
  }
  const rest = text.slice(end + 4)
  const body = headers['transfer-encoding'] === 'chunked' ? joined(rest) : rest
  return { status: Number(statusLine.split(' ')[1]), headers, body }
}

function joined(chunked: string): string {
  let body = ''
  for (let from = 0; from < chunked.length;) {
    const line = chunked.indexOf('\r\n', from)
    const size = Number.parseInt(chunked.slice(from, line), 16)
    if (size === 0) return body
    body += chunked.slice(line + 2, line + 2 + size)
    from = line + 4 + size
  }
  throw new Error('The last chunk is missing')
}
