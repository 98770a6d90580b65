import { type IncomingMessage, Server as HttpServer, type ServerResponse } from 'node:http'
import type { Http2Session } from 'node:http2'
import { Server, type Socket } from 'node:net'
import { Server as TlsServer } from 'node:tls'
import {
  adoptHandle,
  answerOf,
  isEventStream,
  isHttp1,
  type RawHandle,
  restingSockets,
  takeHandle,
} from '../platform/node-internals.ts'

/** Milliseconds between two looks at all connections of a server that drains. */
const LOOK_AGAIN = 200
/** Milliseconds in which connections under load get an answer that says that it is the last one, before all are closed. */
const NOTICE = 100
/** Milliseconds in which connections that are too many go, before it is said anew how many these are. */
const SHEDDING = 400
/** How many connections go to other processes, and until when: while the server goes on, and once it drains. */
const NONE = { connections: 0, until: 0 }
const ALL = { connections: Infinity, until: Infinity }
/** Milliseconds for clients of HTTP/2 to hear that they are to ask no more; most close the connection themselves. */
const SESSION_NOTICE = 1000
/** Milliseconds that connections have to become secure, whose server takes no new ones. */
const HANDSHAKE_TIMEOUT = 5000
/** Milliseconds for streams of events to end in good order, once their time is up. */
const LAST_WORDS = 200
/** A frame of WebSocket that closes, with the code of a server that goes away. */
const GOING_AWAY = Buffer.from([0x88, 0x02, 0x03, 0xe9])
const DAY = 24 * 60 * 60 * 1000
/** The highest number that a stream of HTTP/2 may have. */
const LAST_STREAM = 2 ** 31 - 1

/**
 * Sends a connection to another process, with the milliseconds that it has rested, which are less than none if it may
 * rest for longer than `keepAliveTimeout`; and calls back once it has gone.
 */
export type Send = (handle: RawHandle, rested: number, done: () => void) => void

/** Since when Node adds it to `keepAliveTimeout`, for clients that use a connection at the last moment. */
type KeepAliveTimes = HttpServer & { keepAliveTimeoutBuffer?: number }

/** A connection of another process that has not asked anything here. */
interface Adopted {
  /** Since when it rests, by `performance.now()`. */
  readonly since: number
  /** Since when it is here. */
  readonly here: number
  /** What ends it when it has rested for too long. */
  readonly timer: NodeJS.Timeout | undefined
}

/** The connections of a server: how many there are, and how they leave it. */
export class Connections {
  readonly #server: Server
  /** The server, if connections that rest can go to other processes: what TLS and HTTP/2 know of theirs can not. */
  readonly #plain: HttpServer | undefined
  readonly #send: Send | undefined
  readonly #open = new Set<Socket>()
  readonly #sessions = new Set<Http2Session>()
  readonly #webSockets = new Set<Socket>()
  /** How many connections are not yet secure. */
  #handshakes = 0
  #awaitsHandshakes = true
  readonly #adopted = new Map<Socket, Adopted>()
  #requests = 0
  /** Those that are on their way to another process. */
  readonly #leaving = new Set<Socket>()
  /** Those that have got an answer in this turn of the event loop. */
  readonly #answered = new Set<Socket>()
  /** How many are to go to other processes, as soon as they rest, and until when, by `performance.now()`. */
  #surplus = NONE
  #drains = false
  #looksAtRequests = false
  #onEnd: () => void = () => {}
  readonly #onListener = (event: string | symbol): void => {
    if (event !== 'upgrade') return
    this.#server.off('newListener', this.#onListener)
    this.#addWebSockets()
  }

  /** @param send where connections go; without it they stay */
  constructor(server: Server, send?: Send) {
    this.#server = server
    this.#send = send
    this.#plain = send && server instanceof HttpServer ? server : undefined
    if (server instanceof TlsServer) this.#addSecured(server)
    else server.on('connection', (socket: Socket) => this.#add(socket))
    server.on('session', (session: Http2Session) => {
      this.#sessions.add(session)
      if (this.#drains) this.#endSession(session)
      session.once('close', () => {
        this.#sessions.delete(session)
        this.#onEnd()
      })
    })
    // To listen for requests is to ask HTTP/2 for such as those of HTTP/1, which an app of streams may not want.
    const isOfRequests = server instanceof HttpServer || server.listenerCount('request') > 0
    server.on(isOfRequests ? 'request' : 'stream', () => this.#requests++)
    // A server that has no listener for them answers such requests as any other, and is to go on doing so.
    if (server.listenerCount('upgrade') > 0) this.#addWebSockets()
    else server.on('newListener', this.#onListener)
  }

  get count(): number {
    return this.#open.size
  }

  /** How many requests have come. */
  get requests(): number {
    return this.#requests
  }

  /** Whether connections can come from and go to other processes. */
  get canMove(): boolean {
    return this.#plain !== undefined
  }

  /** Goes on with a connection of another process, which has rested for so many milliseconds. */
  adopt(handle: RawHandle, rested: number): void {
    const socket = adoptHandle(this.#plain!, handle)
    const now = performance.now()
    this.#adopted.set(socket, { since: now - rested, here: now, timer: this.#letRest(socket, rested) })
    this.#lookAtRequests()
    if (this.#drains) this.#giveAway(this.#open)
  }

  /** Sends away so many connections: those that rest, and others when they have their answer. */
  shed(count: number): void {
    if (!this.#plain || this.#drains) return
    this.#surplus = { connections: count, until: performance.now() + SHEDDING }
    this.#letGo()
  }

  /**
   * Takes no new connections, and resolves when none is left in which requests come, or after that many milliseconds.
   * To hand over is to send away those that rest; what cannot be sent is told with its next answer that it is the last
   * one. Not to hand over is to close those that rest, after such notice as the others have.
   */
  async drain(handOver: boolean, timeout: number): Promise<void> {
    this.#drains = true
    this.#surplus = handOver && this.canMove ? ALL : NONE
    // The server's own close() would close those that rest.
    if (this.#server.listening) Server.prototype.close.call(this.#server)
    this.#letGo()
    for (const session of this.#sessions) this.#endSession(session)
    const { promise, resolve } = Promise.withResolvers<void>()
    const timers = [
      setTimeout(() => !handOver && this.#closeResting(), NOTICE),
      setTimeout(() => {
        this.#endEventStreams()
        timers.push(setTimeout(resolve, LAST_WORDS))
      }, timeout),
      setTimeout(() => {
        this.#awaitsHandshakes = false
        this.#onEnd()
      }, HANDSHAKE_TIMEOUT),
      // Not all that makes a connection rest is heard of, such as the end of a body that its answer did not wait for.
      setInterval(() => (handOver ? this.#giveAway(this.#open) : this.#closeResting()), LOOK_AGAIN),
    ]
    this.#onEnd = () => {
      if (this.#isEmpty()) resolve()
    }
    this.#onEnd()
    await promise
    for (const timer of timers) clearTimeout(timer)
    // Their time is up. Those that were upgraded are left to the app's own way to close.
    for (const session of this.#sessions) session.destroy()
    for (const socket of this.#open) if (isHttp1(socket)) socket.destroy()
  }

  /** Tells clients of WebSocket that whom they talk to goes away: they close the connection then. */
  sayGoodbye(): void {
    for (const socket of this.#webSockets) if (socket.writable && socket.bytesWritten > 0) socket.write(GOING_AWAY)
  }

  /** Closes them all, whatever they do. */
  destroy(): void {
    for (const session of this.#sessions) session.destroy()
    for (const socket of this.#open) socket.destroy()
  }

  /** Whether there is none left in which requests come: nothing is waited for in those that were upgraded. */
  #isEmpty(): boolean {
    if (this.#leaving.size + this.#sessions.size > 0) return false
    if (this.#awaitsHandshakes && this.#handshakes > 0) return false
    return ![...this.#open].some((socket) => isHttp1(socket))
  }

  #addSecured(server: Server): void {
    server.on('connection', () => this.#handshakes++)
    const onEnd = (): void => {
      this.#handshakes--
      this.#onEnd()
    }
    server.on('tlsClientError', onEnd)
    server.on('secureConnection', (socket: Socket) => {
      this.#add(socket)
      onEnd()
    })
  }

  #addWebSockets(): void {
    this.#server.prependListener('upgrade', ({ headers }: IncomingMessage, socket: Socket) => {
      if (headers.upgrade?.toLowerCase() !== 'websocket') return
      this.#webSockets.add(socket)
      socket.once('close', () => this.#webSockets.delete(socket))
    })
  }

  #add(socket: Socket): void {
    this.#open.add(socket)
    socket.once('close', () => {
      this.#open.delete(socket)
      this.#forget(socket)
      this.#onEnd()
    })
  }

  /**
   * Has a connection end when it has rested for as long as its server lets connections rest: from its first request on the
   * server sees to that. Where the server has set it no timeout, a timer does it: `setTimeout()` would add a property that
   * other connections get after their first answer, and to V8 the two were of different kinds. Of what it had optimised,
   * two workers between which connections were evened out six times threw away 134 and 98 functions, and now 49 and 38.
   */
  #letRest(socket: Socket, rested: number): NodeJS.Timeout | undefined {
    const { keepAliveTimeout, keepAliveTimeoutBuffer, timeout } = this.#plain as KeepAliveTimes
    if (keepAliveTimeout === 0) return undefined
    const patience = keepAliveTimeout + (keepAliveTimeoutBuffer ?? 0)
    // One that is not whole would make it of another kind as well.
    const left = Math.max(1, Math.ceil(patience - rested))
    if (timeout === 0) return setTimeout(() => this.#endRest(socket, patience), left).unref()
    socket.setTimeout(left)
    return undefined
  }

  #endRest(socket: Socket, patience: number): void {
    // What it was upgraded to is not to be ended by this.
    if (!isHttp1(socket)) return
    if (socket.bytesRead === 0) socket.emit('timeout')
    // A head that has begun has as long again for its rest.
    else socket.setTimeout(patience)
  }

  /** Leaves a connection of another process to the server, and returns what was known of it. */
  #forget(socket: Socket): Adopted | undefined {
    const adopted = this.#adopted.get(socket)
    if (!adopted) return undefined
    clearTimeout(adopted.timer)
    this.#adopted.delete(socket)
    return adopted
  }

  #sendAway(socket: Socket): void {
    // From here on it is not ours: nothing is read, and no timer ends it.
    const { since } = this.#forget(socket) ?? {}
    this.#open.delete(socket)
    this.#leaving.add(socket)
    // One that has never asked may rest for as long as the server waits for a first request.
    const atFirst = socket.bytesRead === 0 ? this.#plain!.keepAliveTimeout - (this.#plain!.headersTimeout || DAY) : 0
    this.#send!(takeHandle(socket), since === undefined ? atFirst : performance.now() - since, () => {
      this.#leaving.delete(socket)
      socket.destroy()
      this.#onEnd()
    })
  }

  /** To close it at once would be to refuse the streams that are on their way: first its client is told. */
  #endSession(session: Http2Session): void {
    session.goaway(0, LAST_STREAM)
    setTimeout(() => session.close(), SESSION_NOTICE).unref()
  }

  #closeResting(): void {
    for (const socket of restingSockets(this.#server, this.#open)) socket.destroy()
  }

  /** They have no end of their own, and whoever listens to one comes again when it ends in good order. */
  #endEventStreams(): void {
    for (const socket of this.#open) {
      const answer = answerOf(socket)
      if (!answer || !isEventStream(answer)) continue
      // What an app still writes has nobody to go to.
      answer.on('error', () => {})
      answer.end()
    }
  }

  /** Sees each request before the app does, from the first time on that this is needed. */
  #lookAtRequests(): void {
    if (this.#looksAtRequests) return
    this.#looksAtRequests = true
    const look = (request: IncomingMessage, response: ServerResponse): void => {
      const { socket } = request
      if (this.#forget(socket) && socket.timeout) socket.setTimeout(this.#plain!.timeout)
      this.#lastAnswer(response)
    }
    this.#server.prependListener('request', look)
    // Where nobody listens to these, Node makes requests of them.
    for (const event of ['checkContinue', 'checkExpectation'])
      if (this.#server.listenerCount(event) > 0) this.#server.prependListener(event, look)
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

  /** Has connections go, now or with their answer. */
  #letGo(): void {
    this.#lookAtRequests()
    this.#giveAway(this.#open)
    for (const socket of this.#open) {
      const answer = answerOf(socket)
      if (answer) this.#lastAnswer(answer)
    }
  }

  /** It may be the last answer that a connection gets here: then it goes elsewhere, or is told that it will be closed. */
  #lastAnswer(answer: ServerResponse): void {
    if (this.#gives) answer.once('finish', () => this.#giveAwaySoon(answer.req.socket))
    else if (this.#drains && answer.req.httpVersionMajor === 1 && !answer.headersSent)
      answer.setHeader('connection', 'close')
  }

  /** Whether connections are to go to other processes. */
  get #gives(): boolean {
    const { connections, until } = this.#surplus
    return connections > 0 && performance.now() < until
  }

  /** Sends away those of some that rest, as many as are to go. */
  #giveAway(some: Iterable<Socket>): void {
    if (!this.#gives) return
    const { connections, until } = this.#surplus
    const leaving = restingSockets(this.#plain!, some).slice(0, connections)
    this.#surplus = { connections: connections - leaving.length, until }
    for (const socket of leaving) this.#sendAway(socket)
  }

  /** By the next tick the server knows of the end of the answer too, and nothing of a next request was read. */
  #giveAwaySoon(socket: Socket): void {
    this.#answered.add(socket)
    if (this.#answered.size > 1) return
    process.nextTick(() => {
      const answered = [...this.#answered].filter((one) => this.#open.has(one))
      this.#answered.clear()
      this.#giveAway(answered)
    })
  }
}
