import { type IncomingMessage, Server as HttpServer, type ServerResponse } from 'node:http'
import { Server } from 'node:net'
import { type RawHandle, responseOf } from '../platform/node-internals.ts'
import { ConnectionTracker } from './connection-tracker.ts'
import { drain, endSession } from './drain.ts'
import { Handover, type HandoverSetup } from './handover.ts'

/** The connections of a server: their number, their handover and their end. */
export class Connections {
  readonly #server: Server
  readonly #tracker: ConnectionTracker
  /** Only for HTTP/1 without TLS: the state of TLS and HTTP/2 lives in the process. */
  readonly #handover: Handover | undefined
  #isDraining = false
  #seesRequests = false

  /** @param setup how connections reach another process; without it they stay */
  constructor(server: Server, setup?: HandoverSetup) {
    this.#server = server
    this.#tracker = new ConnectionTracker(server, {
      onClose: (socket) => this.#handover?.forget(socket),
      onSession: (session) => this.#isDraining && endSession(session),
    })
    this.#handover = setup && server instanceof HttpServer ? new Handover(server, this.#tracker, setup) : undefined
  }

  get count(): number {
    return this.#tracker.open.size
  }

  /** Number of requests received. */
  get requests(): number {
    return this.#tracker.requests
  }

  /** Whether connections can be handed over from and to this process. */
  get canHandOver(): boolean {
    return this.#handover !== undefined
  }

  /** Continues a connection of another process that has been idle for `idleMs` milliseconds. */
  adopt(handle: RawHandle, idleMs: number): void {
    this.#handover?.adopt(handle, idleMs)
    this.#watchRequests()
    if (this.#isDraining) this.#handover?.handOverIdle(this.#tracker.open)
  }

  /** Hands `count` connections over: idle ones now, others after their response. */
  rebalance(count: number): void {
    if (!this.#handover || this.#isDraining) return
    this.#handover.startRound(count)
    this.#endConnections()
  }

  /**
   * Stops accepting connections. Resolves when no connection with requests is left, or after `timeout` milliseconds. With
   * `handOver` idle connections are handed over, otherwise closed. Other connections get `connection: close`.
   */
  async drain(handOver: boolean, timeout: number): Promise<void> {
    this.#isDraining = true
    if (handOver) this.#handover?.handOverAll()
    else this.#handover?.handOverNone()
    // The close() of an HTTP server would close idle connections.
    if (this.#server.listening) Server.prototype.close.call(this.#server)
    this.#endConnections()
    for (const session of this.#tracker.sessions) endSession(session)
    await drain(this.#server, this.#tracker, this.#handover, { handOver, timeout })
  }

  /** Asks WebSocket clients to close their connections. */
  sendCloseFrames(): void {
    this.#tracker.sendCloseFrames()
  }

  /** Closes all connections immediately. */
  destroy(): void {
    this.#tracker.destroy()
  }

  /** Hands connections over or announces their end: idle ones now, others with their response. */
  #endConnections(): void {
    this.#watchRequests()
    this.#handover?.handOverIdle(this.#tracker.open)
    for (const socket of this.#tracker.open) {
      const response = responseOf(socket)
      if (response) this.#prepareLast(response)
    }
  }

  /** Sees each request before the app does, from the first time that this is needed. */
  #watchRequests(): void {
    if (this.#seesRequests) return
    this.#seesRequests = true
    const onRequest = ({ socket }: IncomingMessage, response: ServerResponse): void => {
      this.#handover?.onRequest(socket)
      this.#prepareLast(response)
    }
    this.#server.prependListener('request', onRequest)
    // Without listeners, Node turns these events into requests.
    for (const event of ['checkContinue', 'checkExpectation'])
      if (this.#server.listenerCount(event) > 0) this.#server.prependListener(event, onRequest)
    this.#handover?.keepAdopted()
  }

  /** This may be the last response of a connection here: hand the connection over after it, or announce its end. */
  #prepareLast(response: ServerResponse): void {
    if (this.#handover?.isActive) this.#handover.handOverAfter(response)
    else if (this.#isDraining && response.req.httpVersionMajor === 1 && !response.headersSent)
      response.setHeader('connection', 'close')
  }
}
