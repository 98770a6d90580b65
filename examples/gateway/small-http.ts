// A minimal HTTP/1.1 server for upstreams: GET without a body, one request at a time per connection.

import { STATUS_CODES } from 'node:http'
import { createServer, type Server, type Socket } from 'node:net'

export interface Answer {
  readonly status: number
  readonly body: Buffer
  /** Delay of the response in milliseconds. */
  readonly delay?: number
}

/** Milliseconds after which a connection without requests is closed, as by `node:http`. */
const KEEP_ALIVE = 5000

const ONLY_GET: Answer = { status: 400, body: Buffer.from('{"error":"GET only"}') }

const END = '\r\n\r\n'

/** Serves paths. `close` ends idle connections, and others after their response. */
export function createSmallServer(answerTo: (path: string) => Answer): { server: Server; close: () => void } {
  const connections = new Set<Connection>()
  const server = createServer({ noDelay: true }, (socket) => {
    const connection = new Connection(socket, answerTo)
    connections.add(connection)
    socket.once('close', () => connections.delete(connection))
  })
  const close = (): void => {
    server.close()
    for (const connection of connections) connection.closeSoon()
  }
  return { server, close }
}

class Connection {
  readonly #socket: Socket
  readonly #answerTo: (path: string) => Answer
  #received = ''
  #isAnswering = false
  #isLast = false

  constructor(socket: Socket, answerTo: (path: string) => Answer) {
    this.#socket = socket
    this.#answerTo = answerTo
    socket.setTimeout(KEEP_ALIVE, () => this.#isAnswering || socket.destroy())
    socket.on('error', () => socket.destroy())
    socket.on('data', (bytes: Buffer) => {
      this.#received += bytes.toString('latin1')
      this.#next()
    })
  }

  closeSoon(): void {
    this.#isLast = true
    if (!this.#isAnswering) this.#socket.end()
  }

  #next(): void {
    if (this.#isAnswering) return
    const end = this.#received.indexOf(END)
    if (end < 0) return
    const head = this.#received.slice(0, end)
    this.#received = this.#received.slice(end + END.length)
    const [method, path] = head.slice(0, head.indexOf('\r\n')).split(' ', 2)
    const isGet = method === 'GET'
    if (!isGet || /\r\nconnection: *close/i.test(head)) this.#isLast = true
    const answer = isGet ? this.#answerTo(path!) : ONLY_GET
    this.#isAnswering = true
    if (answer.delay) setTimeout(() => this.#send(answer), answer.delay)
    else this.#send(answer)
  }

  #send(answer: Answer): void {
    this.#isAnswering = false
    this.#socket.write(bytesOf(answer, this.#isLast))
    if (this.#isLast) this.#socket.end()
    else this.#next()
  }
}

/** Bytes of responses that are sent again, by the second of their date. */
const sent = new WeakMap<Answer, { readonly second: number; readonly bytes: Buffer }>()

function bytesOf(answer: Answer, isLast: boolean): Buffer {
  const second = Math.floor(Date.now() / 1000)
  const before = sent.get(answer)
  if (before?.second === second && !isLast) return before.bytes
  const { status, body } = answer
  const head = [
    `HTTP/1.1 ${status} ${STATUS_CODES[status]}`,
    'content-type: application/json',
    `content-length: ${body.length}`,
    `Date: ${new Date(second * 1000).toUTCString()}`,
    ...(isLast ? ['Connection: close'] : ['Connection: keep-alive', `Keep-Alive: timeout=${KEEP_ALIVE / 1000}`]),
  ]
  const bytes = Buffer.concat([Buffer.from(head.join('\r\n') + END, 'latin1'), body])
  if (!isLast) sent.set(answer, { second, bytes })
  return bytes
}
