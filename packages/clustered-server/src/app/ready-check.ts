// The request that a worker sends to its own app before it accepts connections: see the option `readyPath`.

import { once } from 'node:events'
import { type ClientRequest, type IncomingMessage, request, Server as HttpServer } from 'node:http'
import { connect as connectHttp2 } from 'node:http2'
import { type AddressInfo, connect, createServer, type Server, type Socket } from 'node:net'
import { connect as connectTls, Server as TlsServer, type TLSSocket } from 'node:tls'

/** Maximum milliseconds for the body of the response: only its status counts. */
const REST = 1000

/** The app does not respond to `readyPath` as required. */
export class NotReadyError extends Error {}

/**
 * Resolves when an app responds to `GET path` with a status below 500. The app need not listen: the connection comes
 * through a loopback port that is open for this request only.
 *
 * @throws NotReadyError
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
  // Exclusive: otherwise node:cluster would request the port from the primary.
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
  // The certificate is valid for the public names of the server.
  const secure = connectTls({ socket, ALPNProtocols: ['h2', 'http/1.1'], rejectUnauthorized: false })
  await once(secure, 'secureConnect')
  return secure.alpnProtocol === 'h2' ? statusByHttp2(secure, path) : statusByHttp1(secure, path)
}

async function statusByHttp1(socket: Socket, path: string): Promise<number> {
  const sent: ClientRequest = request({
    createConnection: () => socket,
    path,
    headers: { host: 'localhost', connection: 'close' },
  })
  sent.end()
  const [response] = (await once(sent, 'response')) as [IncomingMessage]
  await restOf(response.on('error', () => {}).resume())
  return response.statusCode!
}

async function statusByHttp2(socket: Socket | TLSSocket, path: string): Promise<number> {
  const session = connectHttp2('http://localhost', { createConnection: () => socket })
  try {
    // The request fails with the same error.
    session.on('error', () => {})
    const stream = session.request({ ':path': path })
    const [headers] = (await once(stream, 'response')) as [{ ':status': number }]
    await restOf(stream.on('error', () => {}).resume())
    return headers[':status']
  } finally {
    session.destroy()
  }
}

/** Waits, so that the app does not log an aborted response. */
async function restOf(body: NodeJS.ReadableStream): Promise<void> {
  await once(body, 'close', { signal: AbortSignal.timeout(REST) }).catch(() => {})
}
