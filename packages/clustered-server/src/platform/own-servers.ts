import type { Server } from 'node:net'

const own = new WeakSet<Server>()

/** Marks a server of this package, so that it does not count as one of the app. */
export function markOwn<T extends Server>(server: T): T {
  own.add(server)
  return server
}

export function isOwn(server: Server): boolean {
  return own.has(server)
}
