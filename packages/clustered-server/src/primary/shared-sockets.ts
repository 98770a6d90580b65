import type { SocketQuery } from '../ipc/messages.ts'
import { keyOf } from '../ipc/socket-key.ts'
import { bindHandle, type RawHandle } from '../platform/node-internals.ts'
import { removeStale } from '../platform/unix-socket.ts'
import type { WorkerRole } from './worker-setup.ts'

/** A worker that accepts from shared sockets. */
interface User {
  readonly role: WorkerRole
}

interface Shared {
  readonly bound: Promise<RawHandle | number>
  readonly users: Set<User>
}

/**
 * Sockets that workers listen on beside that of the server, such as one for metrics. As in `node:cluster`, the primary
 * binds each of them once and sends it to every worker that requests it.
 */
export class SharedSockets {
  readonly #sockets = new Map<string, Shared>()
  #closing: Promise<unknown> = Promise.resolve()
  #isClosed = false

  /** Resolves with the socket, or with the error number of its bind; with `undefined` once all sockets are closed. */
  async share(user: User, query: SocketQuery): Promise<RawHandle | number | undefined> {
    const key = keyOf(query)
    const shared = this.#sockets.get(key) ?? { bound: this.#bind(query), users: new Set() }
    this.#sockets.set(key, shared)
    shared.users.add(user)
    const handle = await shared.bound
    if (typeof handle === 'number' && this.#sockets.get(key) === shared) this.#sockets.delete(key)
    return this.#isClosed ? undefined : handle
  }

  /** A worker no longer accepts from a socket. */
  release(user: User, query: SocketQuery): void {
    const key = keyOf(query)
    const shared = this.#sockets.get(key)
    if (!shared?.users.delete(user) || shared.users.size > 0) return
    this.#sockets.delete(key)
    this.#closing = close(shared)
  }

  /** A worker has ended. If it died, its sockets stay open for its successor. */
  releaseAll(user: User): void {
    for (const [key, shared] of this.#sockets) {
      if (!shared.users.delete(user) || shared.users.size > 0 || user.role !== 'retiring') continue
      this.#sockets.delete(key)
      this.#closing = close(shared)
    }
  }

  /** Closes sockets of dead workers that no successor has requested. */
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
    // The socket that is being closed may have the same address.
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
