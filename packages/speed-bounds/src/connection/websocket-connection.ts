// WebSocket: a message is a request, and the next message from the server is its response.

import type { Cancel, Connection, OnEnd, RepeatedRequest } from './connection.ts'

/** Messages have no status. */
const OK = 200

export class WebSocketConnection implements Connection {
  readonly #socket: WebSocket
  readonly #message: string
  #pending: OnEnd | undefined
  #isOpen = true

  constructor({ origin, path, headers, body }: RepeatedRequest) {
    this.#message = body ?? ''
    this.#socket = new WebSocket(origin.replace(/^http/, 'ws') + path, { headers: { ...headers } })
    this.#socket.binaryType = 'arraybuffer'
    this.#socket.addEventListener('open', () => {
      if (this.#pending) this.#socket.send(this.#message)
    })
    this.#socket.addEventListener('message', () => this.#end(OK))
    this.#socket.addEventListener('error', () => this.#fail())
    this.#socket.addEventListener('close', () => this.#fail())
  }

  get free(): number {
    return this.#isOpen && !this.#pending ? 1 : 0
  }

  send(onEnd: OnEnd): Cancel {
    this.#pending = onEnd
    if (this.#socket.readyState === WebSocket.OPEN) this.#socket.send(this.#message)
    return () => {
      if (this.#pending !== onEnd) return
      this.#pending = undefined
      this.close()
    }
  }

  close(): void {
    this.#isOpen = false
    this.#socket.close()
  }

  #fail(): void {
    this.#isOpen = false
    this.#end(new Error('The WebSocket was closed, or could not be opened.'))
  }

  #end(outcome: number | Error): void {
    const onEnd = this.#pending
    this.#pending = undefined
    onEnd?.(outcome)
  }
}
