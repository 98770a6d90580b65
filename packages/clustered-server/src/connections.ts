import { type IncomingMessage, Server as HttpServer, type ServerResponse } from 'node:http'
import type { Http2Session } from 'node:http2'
import { Server, type Socket } from 'node:net'
import { Server as TlsServer } from 'node:tls'
import { adoptHandle, answerOf, isHttp1, type RawHandle, restingSockets, takeHandle } from './node-internals.ts'

/** Sends a connection to another process, with the milliseconds that it has rested, and calls back once it has gone. */
export type Send = (handle: RawHandle, rested: number, done: () => void) => void

/** The connections of a server: how many there are, and how they leave it. */
export class Connections {
  readonly #server: Server
  /** The server, if connections that rest can go to other processes: what TLS and HTTP/2 know of theirs can not. */
  readonly #plain: HttpServer | undefined
  readonly #send: Send | undefined
  readonly #open = new Set<Socket>()
  readonly #sessions = new Set<Http2Session>()
  /** Those of other processes that have not asked anything here: since when they rest, by `performance.now()`. */
  readonly #adopted = new Map<Socket, { since: number; here: number }>()
  /** How many are on their way to another process. */
  #leaving = 0
  #drains = false
  /** Whether those that rest leave as soon as they do. */
  #handsOver = false
  #looksAtRequests = false
  #isDue = false
  #onEnd: () => void = () => {}

  /** @param send where connections go; without it they stay */
  constructor(server: Server, send?: Send) {
    this.#server = server
    this.#send = send
    this.#plain = send && server instanceof HttpServer ? server : undefined
    server.on(server instanceof TlsServer ? 'secureConnection' : 'connection', (socket: Socket) => this.#add(socket))
    server.on('session', (session: Http2Session) => {
      this.#sessions.add(session)
      session.once('close', () => {
        this.#sessions.delete(session)
        this.#onEnd()
      })
    })
  }

  get count(): number {
    return this.#open.size
  }

  /** Whether connections can come from and go to other processes. */
  get canMove(): boolean {
    return this.#plain !== undefined
  }

  /** Goes on with a connection of another process, which has rested for so many milliseconds. */
  adopt(handle: RawHandle, rested: number): void {
    const server = this.#plain!
    const socket = adoptHandle(server, handle)
    const now = performance.now()
    this.#adopted.set(socket, { since: now - rested, here: now })
    // From its first request on, the server sees to it.
    if (server.keepAliveTimeout > 0) socket.setTimeout(Math.max(1, server.keepAliveTimeout - rested))
    this.#lookAtRequests()
    this.#giveAway()
  }

  /** Sends away connections that rest, as many as are wanted and there are. */
  handOver(most: number = Infinity): void {
    if (!this.#plain) return
    for (const socket of restingSockets(this.#plain, this.#open).slice(0, most)) this.#sendAway(socket)
  }

  /**
   * Takes no new connections, and resolves when none is left in which requests come, or after that many milliseconds.
   * To hand over is to send away those that rest; what cannot be sent is told with its next answer that it is the last
   * one. Not to hand over is to close those that rest.
   */
  async drain(handOver: boolean, timeout: number): Promise<void> {
    this.#drains = true
    this.#handsOver = handOver && this.canMove
    // The server's own close() would close those that rest.
    if (this.#server.listening) Server.prototype.close.call(this.#server)
    this.#lookAtRequests()
    for (const socket of this.#open) {
      const answer = answerOf(socket)
      if (answer) this.#lastAnswer(answer)
    }
    for (const session of this.#sessions) session.close()
    this.#giveAway()
    if (!handOver) this.#closeResting()
    const { promise, resolve } = Promise.withResolvers<void>()
    const timer = setTimeout(resolve, timeout)
    this.#onEnd = () => {
      if (this.#leaving + this.#sessions.size === 0 && ![...this.#open].some((socket) => isHttp1(socket))) resolve()
    }
    this.#onEnd()
    await promise
    clearTimeout(timer)
  }

  /** Closes them all, whatever they do. */
  destroy(): void {
    for (const session of this.#sessions) session.destroy()
    for (const socket of this.#open) socket.destroy()
  }

  #add(socket: Socket): void {
    this.#open.add(socket)
    socket.once('close', () => {
      this.#open.delete(socket)
      this.#adopted.delete(socket)
      this.#onEnd()
    })
  }

  #sendAway(socket: Socket): void {
    const { since } = this.#adopted.get(socket) ?? {}
    // From here on it is not ours: nothing is read, and no timer ends it.
    this.#open.delete(socket)
    this.#adopted.delete(socket)
    this.#leaving++
    this.#send!(takeHandle(socket), since === undefined ? 0 : performance.now() - since, () => {
      this.#leaving--
      socket.destroy()
      this.#onEnd()
    })
  }

  #closeResting(): void {
    if (this.#server instanceof HttpServer) {
      for (const socket of restingSockets(this.#server, this.#open)) socket.destroy()
    } else (this.#server as Partial<HttpServer>).closeIdleConnections?.()
  }

  /** Sees each request before the app does, from the first time on that this is needed. */
  #lookAtRequests(): void {
    if (this.#looksAtRequests) return
    this.#looksAtRequests = true
    this.#server.prependListener('request', (request: IncomingMessage, response: ServerResponse) => {
      if (this.#adopted.delete(request.socket)) request.socket.setTimeout(this.#plain!.timeout)
      if (this.#drains) this.#lastAnswer(response)
    })
    if (this.#plain) this.#keepAdopted(this.#plain)
  }

  /**
   * To the server a connection that comes from another process is new, and has `headersTimeout` for its first request.
   * One that rests may do so for as long as any other: before that time is up it goes to another process again.
   */
  #keepAdopted({ headersTimeout }: HttpServer): void {
    if (headersTimeout === 0) return
    const look = (): void => {
      const before = performance.now() - headersTimeout / 2
      for (const [socket, { here }] of this.#adopted)
        if (here < before && socket.bytesRead === 0 && !socket.destroyed) this.#sendAway(socket)
    }
    setInterval(look, headersTimeout / 4).unref()
  }

  /** The last answer that a connection gets here: it goes elsewhere after it, or is told that it will be closed. */
  #lastAnswer(answer: ServerResponse): void {
    if (this.#handsOver) answer.once('finish', () => this.#giveAwaySoon())
    else if (answer.req.httpVersionMajor === 1 && !answer.headersSent) answer.setHeader('connection', 'close')
  }

  #giveAway(): void {
    if (this.#handsOver) this.handOver()
  }

  /** Looks once for all answers of this turn of the event loop, as a look goes through all connections. */
  #giveAwaySoon(): void {
    if (this.#isDue) return
    this.#isDue = true
    process.nextTick(() => {
      this.#isDue = false
      this.#giveAway()
    })
  }
}
