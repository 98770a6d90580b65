import type { Server } from 'node:http'
import type { Socket } from 'node:net'
import { isHttp1 } from '../platform/node-internals.ts'

/** Since when Node adds it to `keepAliveTimeout`, for clients that use a connection at the last moment. */
type KeepAliveTimes = Server & { keepAliveTimeoutBuffer?: number }

interface Adopted {
  /** When the connection became idle, by `performance.now()`. */
  readonly idleSince: number
  /** When it came to this process. */
  readonly adoptedAt: number
  /** Closes the connection after its keep-alive timeout. */
  readonly timer: NodeJS.Timeout | undefined
}

/** Connections of other processes that have not sent a request here: idle ones, with the rest of their idle time. */
export class AdoptedConnections {
  readonly #server: KeepAliveTimes
  readonly #sockets = new Map<Socket, Adopted>()

  constructor(server: Server) {
    this.#server = server
  }

  add(socket: Socket, idleMs: number): void {
    const now = performance.now()
    const timer = this.#closeAfterIdleTime(socket, idleMs)
    this.#sockets.set(socket, { idleSince: now - idleMs, adoptedAt: now, timer })
  }

  /** Leaves a connection to the server, and returns since when it was idle, if it was here. */
  remove(socket: Socket): number | undefined {
    const adopted = this.#sockets.get(socket)
    if (!adopted) return undefined
    clearTimeout(adopted.timer)
    this.#sockets.delete(socket)
    return adopted.idleSince
  }

  /** Idle connections that were adopted before a time. */
  adoptedBefore(time: number): Socket[] {
    return [...this.#sockets].flatMap(([socket, { adoptedAt }]) =>
      adoptedAt < time && socket.bytesRead === 0 && !socket.destroyed ? socket : [],
    )
  }

  /**
   * Closes an idle connection after the keep-alive timeout; from its first request on, the server does that. A timer is
   * used where the server has no timeout: `setTimeout()` would add a property that changes the hidden class of the socket.
   * See docs/measurements.md#adopted-sockets
   */
  #closeAfterIdleTime(socket: Socket, idleMs: number): NodeJS.Timeout | undefined {
    const { keepAliveTimeout, keepAliveTimeoutBuffer, timeout } = this.#server
    if (keepAliveTimeout === 0) return undefined
    const maxIdle = keepAliveTimeout + (keepAliveTimeoutBuffer ?? 0)
    // A fraction would change the hidden class too.
    const left = Math.max(1, Math.ceil(maxIdle - idleMs))
    if (timeout === 0) return setTimeout(() => endIdle(socket, maxIdle), left).unref()
    socket.setTimeout(left)
    return undefined
  }
}

function endIdle(socket: Socket, maxIdle: number): void {
  // Upgraded connections have other timeouts.
  if (!isHttp1(socket)) return
  if (socket.bytesRead === 0) socket.emit('timeout')
  // A request head that has begun gets the same time again for its rest.
  else socket.setTimeout(maxIdle)
}
