// The request that a worker sends to its own app before it takes connections: see the option `readyPath`.

import { once } from 'node:events'
import { type ClientRequest, type IncomingMessage, request, Server as HttpServer } from 'node:http'
import { connect as connectHttp2 } from 'node:http2'
import { type AddressInfo, connect, createServer, type Server, type Socket } from 'node:net'
import { connect as connectTls, Server as TlsServer, type TLSSocket } from 'node:tls'

/** Milliseconds for the rest of a response: its status is what counts. */
const REST = 1000

/** An app does not respond as `readyPath` demands. */
export class NotReadyError extends Error {}

/**
 * Resolves when an app responds to `GET path` with a status below 500. It need not listen: the connection comes from a
 * port of the loopback interface that is open for this one only.
 *
 * @throws {NotReadyError}
 */
export async function checkReady(server: Server, path: string): Promise<void> {
  const socket = await connectionTo(server)
  let status: number
  try {
    status = await statusOf(server, socket, path)
  } catch (error) {
    throw new NotReadyError(`GET ${path} failed: ${(error as Error).message}`, { cause: error })
  } finally {
    socket.destroy()
  }
  if (status >= 500) throw new NotReadyError(`GET ${path} responded ${status}, expected a status below 500`)
}

async function connectionTo(server: Server): Promise<Socket> {
  const host = '127.0.0.1'
  const others: Socket[] = []
  const door = createServer((socket) => void others.push(socket))
  // Exclusive: under node:cluster the primary would be asked for the port.
  door.listen({ port: 0, host, exclusive: true })
  await once(door, 'listening')
  const client = connect({ port: (door.address() as AddressInfo).port, host })
  const isOurs = ({ remotePort }: Socket): boolean => remotePort === client.localPort
  await once(client, 'connect')
  while (!others.some(isOurs)) await once(door, 'connection')
  door.close()
  for (const socket of others) {
    if (isOurs(socket)) server.emit('connection', socket)
    else socket.destroy()
  }
  return client
}

async function statusOf(server: Server, socket: Socket, path: string): Promise<number> {
  if (server instanceof HttpServer) return statusByHttp1(socket, path)
  if (!(server instanceof TlsServer)) return statusByHttp2(socket, path)
  // Its certificate is for the names that clients know it by.
  const secure = connectTls({ socket, ALPNProtocols: ['h2', 'http/1.1'], rejectUnauthorized: false })
  await once(secure, 'secureConnect')
  return secure.alpnProtocol === 'h2' ? statusByHttp2(secure, path) : statusByHttp1(secure, path)
}

async function statusByHttp1(socket: Socket, path: string): Promise<number> {
  const asked: ClientRequest = request({
    createConnection: () => socket,
    path,
    headers: { host: 'localhost', connection: 'close' },
  })
  asked.end()
  const [response] = (await once(asked, 'response')) as [IncomingMessage]
  await restOf(response.on('error', () => {}).resume())
  return response.statusCode!
}

async function statusByHttp2(socket: Socket | TLSSocket, path: string): Promise<number> {
  const session = connectHttp2('http://localhost', { createConnection: () => socket })
  try {
    // The request fails with it.
    session.on('error', () => {})
    const stream = session.request({ ':path': path })
    const [headers] = (await once(stream, 'response')) as [{ ':status': number }]
    await restOf(stream.on('error', () => {}).resume())
    return headers[':status']
  } finally {
    session.destroy()
  }
}

/** An app whose response is cut off may say so. */
async function restOf(body: NodeJS.ReadableStream): Promise<void> {
  await once(body, 'close', { signal: AbortSignal.timeout(REST) }).catch(() => {})
}
