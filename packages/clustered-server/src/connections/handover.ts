import type { Server, ServerResponse } from 'node:http'
import type { Socket } from 'node:net'
import type { Affinity } from './affinity.ts'
import { adoptHandle, idleSockets, type RawHandle, takeHandle } from '../platform/node-internals.ts'
import { AdoptedConnections } from './adopted-connections.ts'
import type { ConnectionTracker } from './connection-tracker.ts'

/** A connection on its way to another process. */
export interface Leaving {
  readonly handle: RawHandle
  /** How long it has been idle, in milliseconds; negative if it may be idle for longer than `keepAliveTimeout`. */
  readonly idleMs: number
  /** Id of the worker that has to serve it; `undefined` for any. */
  readonly to: number | undefined
}

/** Sends a connection to another process, and calls back once it is gone. */
export type Send = (leaving: Leaving, done: () => void) => void

/** How connections reach another process, and with `sticky` which one. */
export interface HandoverSetup {
  readonly send: Send
  readonly affinity: Affinity | undefined
}

/** Milliseconds in which connections of one round of rebalancing are handed over, before the next round. */
const ROUND_MS = 400
/** Number of connections to hand over, and until when. */
const NONE = { connections: 0, until: 0 }
const ALL = { connections: Infinity, until: Infinity }
const DAY = 24 * 60 * 60 * 1000

/** Hands idle connections of a server over to other processes, and adopts those of others. */
export class Handover {
  readonly #server: Server
  readonly #send: Send
  readonly #tracker: ConnectionTracker
  /** With `sticky`: which worker serves a client address. */
  readonly #affinity: Affinity | undefined
  readonly #adopted: AdoptedConnections
  /** Connections on their way to another process. */
  readonly #leaving = new Set<Socket>()
  /** Connections that got a response in this event-loop tick. */
  readonly #responded = new Set<Socket>()
  #quota = NONE
  #isAdopting = false

  constructor(server: Server, tracker: ConnectionTracker, { send, affinity }: HandoverSetup) {
    this.#server = server
    this.#send = send
    this.#tracker = tracker
    this.#adopted = new AdoptedConnections(server)
    this.#affinity = affinity
    if (affinity) server.on('connection', (socket) => this.#onConnection(socket, affinity))
  }

  /** Number of connections on their way to another process. */
  get leaving(): number {
    return this.#leaving.size
  }

  /** Whether connections are to be handed over as soon as they are idle. */
  get isActive(): boolean {
    const { connections, until } = this.#quota
    return connections > 0 && performance.now() < until
  }

  /** Hands `count` connections over in the next round. */
  startRound(count: number): void {
    this.#quota = { connections: count, until: performance.now() + ROUND_MS }
  }

  handOverAll(): void {
    this.#quota = ALL
  }

  handOverNone(): void {
    this.#quota = NONE
  }

  /** Continues a connection of another process. */
  adopt(handle: RawHandle, idleMs: number): void {
    this.#isAdopting = true
    const socket = adoptHandle(this.#server, handle)
    this.#isAdopting = false
    this.#adopted.add(socket, idleMs)
  }

  /** A connection has sent a request: from now on the server handles its timeouts. */
  onRequest(socket: Socket): void {
    if (this.forget(socket) && socket.timeout) socket.setTimeout(this.#server.timeout)
  }

  /** Drops an adopted connection, and returns whether it was one. */
  forget(socket: Socket): boolean {
    return this.#adopted.remove(socket) !== undefined
  }

  /** Hands over the idle ones of `sockets`, up to the quota. */
  handOverIdle(sockets: Iterable<Socket>): void {
    if (!this.isActive) return
    const { connections, until } = this.#quota
    const leaving = idleSockets(this.#server, sockets).slice(0, connections)
    this.#quota = { connections: connections - leaving.length, until }
    for (const socket of leaving) this.#handOver(socket)
  }

  /** Hands a connection over after a response. */
  handOverAfter(response: ServerResponse): void {
    response.once('finish', () => this.#handOverSoon(response.req.socket))
  }

  /**
   * Hands adopted connections over again before `headersTimeout` ends: to the server they are new and have that time for
   * their first request, although they may be idle for longer.
   */
  keepAdopted(): void {
    const { headersTimeout } = this.#server
    if (headersTimeout === 0) return
    const check = (): void => {
      for (const socket of this.#adopted.adoptedBefore(performance.now() - headersTimeout / 2)) this.#handOver(socket)
    }
    setInterval(check, headersTimeout / 4).unref()
  }

  /** Waits a tick: then the server has processed the end of the response, and has not read the next request. */
  #handOverSoon(socket: Socket): void {
    this.#responded.add(socket)
    if (this.#responded.size > 1) return
    process.nextTick(() => {
      const responded = [...this.#responded].filter((one) => this.#tracker.open.has(one))
      this.#responded.clear()
      this.handOverIdle(responded)
    })
  }

  /** A new connection goes to the worker of its address before its first byte is read. */
  #onConnection(socket: Socket, affinity: Affinity): void {
    if (this.#isAdopting) return
    const worker = affinity.otherWorkerOf(socket.remoteAddress)
    if (worker !== undefined) this.#handOver(socket, worker)
  }

  #handOver(socket: Socket, to: number | undefined = this.#affinity?.otherWorkerOf(socket.remoteAddress)): void {
    // From here on the connection is not ours: this process reads nothing, and no timer ends it.
    const idleSince = this.#adopted.remove(socket)
    this.#tracker.open.delete(socket)
    this.#leaving.add(socket)
    // Without any request, a connection may be idle for as long as the server waits for the first one.
    const beforeFirst = this.#server.keepAliveTimeout - (this.#server.headersTimeout || DAY)
    const unused = socket.bytesRead === 0 ? beforeFirst : 0
    const idleMs = idleSince === undefined ? unused : performance.now() - idleSince
    this.#send({ handle: takeHandle(socket), idleMs, to }, () => {
      this.#leaving.delete(socket)
      socket.destroy()
      this.#tracker.onChange()
    })
  }
}
