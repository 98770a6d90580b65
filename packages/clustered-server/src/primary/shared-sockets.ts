import { type BindQuery, bindHandle, type RawHandle } from '../platform/node-internals.ts'
import { removeStale } from '../platform/unix-socket.ts'

/** Which socket a worker is to share with the others. */
export interface SocketQuery extends BindQuery {
  /** How many sockets on any free port the worker has asked for before: the first ones of all workers are one. */
  readonly index: number
}

/** A worker, as far as it matters here. */
interface User {
  readonly leaves: boolean
}

interface Shared {
  readonly bound: Promise<RawHandle | number>
  readonly users: Set<User>
}

/**
 * The sockets on which workers listen beside that of the server, such as one for metrics. The primary binds each of them
 * once and sends it to whoever asks, as `node:cluster` does.
 */
export class SharedSockets {
  readonly #sockets = new Map<string, Shared>()
  #closing: Promise<unknown> = Promise.resolve()
  #isClosed = false

  /** Resolves with the socket, or with the number of the error that binding it gave; with nothing once all are closed. */
  async share(user: User, query: SocketQuery): Promise<RawHandle | number | undefined> {
    const key = keyOf(query)
    const shared = this.#sockets.get(key) ?? { bound: this.#bind(query), users: new Set() }
    this.#sockets.set(key, shared)
    shared.users.add(user)
    const handle = await shared.bound
    if (typeof handle === 'number' && this.#sockets.get(key) === shared) this.#sockets.delete(key)
    return this.#isClosed ? undefined : handle
  }

  /** A worker accepts no longer from a socket. */
  release(user: User, query: SocketQuery): void {
    const key = keyOf(query)
    const shared = this.#sockets.get(key)
    if (!shared?.users.delete(user) || shared.users.size > 0) return
    this.#sockets.delete(key)
    this.#closing = close(shared)
  }

  /** A worker has ended. What it alone had stays for its successor, if it has died. */
  releaseAll(user: User): void {
    for (const [key, shared] of this.#sockets) {
      if (!shared.users.delete(user) || shared.users.size > 0 || !user.leaves) continue
      this.#sockets.delete(key)
      this.#closing = close(shared)
    }
  }

  /** Closes what nobody has taken on from workers that have died. */
  sweep(): void {
    for (const [key, shared] of this.#sockets) {
      if (shared.users.size > 0) continue
      this.#sockets.delete(key)
      this.#closing = close(shared)
    }
  }

  close(): void {
    this.#isClosed = true
    for (const shared of this.#sockets.values()) void close(shared)
    this.#sockets.clear()
  }

  async #bind(query: SocketQuery): Promise<RawHandle | number> {
    // It may be the same one.
    await this.#closing
    try {
      if (query.port === -1 && query.address !== null) await removeStale(query.address)
    } catch (error) {
      return (error as NodeJS.ErrnoException).errno!
    }
    return bindHandle(query)
  }
}

async function close({ bound }: Shared): Promise<void> {
  const handle = await bound
  if (typeof handle !== 'number') handle.close()
}

/** What tells a socket from others. */
export function keyOf({ address, port, addressType, flags, index }: SocketQuery): string {
  return JSON.stringify([address, port, addressType, flags, port === 0 ? index : 0])
}
