import { once } from 'node:events'
import { connect, type AddressInfo, type Socket } from 'node:net'
import type { FastifyInstance } from 'fastify'
import { onTestFinished } from 'vitest'

/** A connection whose bytes are compared. */
export class RawClient {
  readonly socket: Socket
  #received = ''
  /** Called when there is more to read, or the connection has closed. */
  #onChange = (): void => {}

  constructor(socket: Socket) {
    this.socket = socket
    socket.setEncoding('latin1')
    socket.on('data', (chunk) => {
      this.#received += String(chunk)
      this.#onChange()
    })
    socket.on('close', () => this.#onChange())
    // Tests compare what came before a reset.
    socket.on('error', () => {})
  }

  /** Bytes up to a text, or up to the end of the connection. They are taken from the client. */
  async until(text: string): Promise<string> {
    while (!this.#received.includes(text) && !this.socket.closed)
      await new Promise<void>((resolve) => (this.#onChange = resolve))
    const found = this.#received.indexOf(text)
    const end = found === -1 ? this.#received.length : found + text.length
    const taken = this.#received.slice(0, end)
    this.#received = this.#received.slice(end)
    return taken
  }
}

/** Listens on a free port until the test is finished. */
export async function listen(app: FastifyInstance): Promise<number> {
  onTestFinished(() => app.close())
  await app.listen({ host: '127.0.0.1', port: 0 })
  return (app.server.address() as AddressInfo).port
}

/** Opens connections that are closed when the test is finished. */
export async function connections(port: number, count: number, host = '127.0.0.1'): Promise<RawClient[]> {
  const sockets = Array.from({ length: count }, () => connect(port, host))
  onTestFinished(() => sockets.forEach((socket) => void socket.destroy()))
  await Promise.all(sockets.map((socket) => once(socket, 'connect')))
  return sockets.map((socket) => new RawClient(socket))
}

export const get = (path: string, headers = ''): string => `GET ${path} HTTP/1.1\r\nhost: it\r\n${headers}\r\n`
