// Routes upgrade requests like other requests: through the hooks of the app, to the matching route, or else to Next. Next
// itself would take every socket of its server, and close those whose path is a page.

import { type IncomingMessage, type Server, ServerResponse } from 'node:http'
import type { Socket } from 'node:net'
import type { FastifyInstance, FastifyReply, FastifyRequest } from 'fastify'

interface Upgrade {
  socket: Socket
  head: Buffer
}

type UpgradeHandler = (request: IncomingMessage, socket: Socket, head: Buffer) => Promise<unknown>

const upgradesOf = new WeakMap<Server, Upgrades>()

/** The upgrade requests of one server, for all its Next apps. */
export class Upgrades {
  readonly #pending = new WeakMap<IncomingMessage, Upgrade>()
  /** Sockets that Next uses. A closing server waits for them. */
  readonly #taken = new Set<Socket>()

  private constructor(app: FastifyInstance) {
    const { server } = app
    const onUpgrade = (request: IncomingMessage, socket: Socket, head: Buffer): void => {
      this.#pending.set(request, { socket, head })
      // @fastify/websocket routes all upgrade requests by its own listener.
      if (app.hasDecorator('websocketServer')) return
      // Another listener, such as Socket.IO, selects its own paths.
      if (server.listenerCount('upgrade') > 1 && !isHmr(request)) return
      route(app, request, socket)
    }
    // Before the listener of @fastify/websocket.
    server.prependListener('upgrade', onUpgrade)
    app.addHook('preClose', async () => {
      server.removeListener('upgrade', onUpgrade)
      for (const socket of this.#taken) socket.destroy()
    })
  }

  /** The upgrades of an app. The first call adds the listener. */
  static of(app: FastifyInstance): Upgrades {
    const upgrades = upgradesOf.get(app.server) ?? new Upgrades(app)
    upgradesOf.set(app.server, upgrades)
    return upgrades
  }

  /** Passes an upgrade request to Next. Returns false for other requests. */
  take(request: FastifyRequest, reply: FastifyReply, upgrade: UpgradeHandler): boolean {
    const pending = this.#pending.get(request.raw)
    // Next would close the socket for another protocol, such as h2c. A server may ignore it.
    if (!pending || !isWebSocket(request.raw)) return false
    const { socket, head } = pending
    reply.hijack()
    reply.raw.detachSocket(socket)
    this.#taken.add(socket)
    socket.once('close', () => this.#taken.delete(socket))
    void pass(request, { socket, head }, upgrade)
    return true
  }
}

async function pass({ raw, log }: FastifyRequest, { socket, head }: Upgrade, upgrade: UpgradeHandler): Promise<void> {
  const written = socket.bytesWritten
  try {
    const proxied = await upgrade(raw, socket, head)
    // Next resolves to true once it has passed the socket to another server, which may respond later.
    const isTaken = proxied !== undefined || socket.bytesWritten > written || !socket.writable
    // Next ignores sockets that it has no handler for.
    if (!isTaken) socket.end('HTTP/1.1 404 Not Found\r\nConnection: close\r\n\r\n')
  } catch (error) {
    log.error({ err: error }, 'Next failed')
    socket.destroy()
  }
}

/** Whether a client asks for a WebSocket. Node ignores `Upgrade` without `Connection: upgrade`, and so does `next start`. */
function isWebSocket({ headers }: IncomingMessage): boolean {
  return headers.upgrade?.toLowerCase() === 'websocket' && /\bupgrade\b/i.test(headers.connection ?? '')
}

/**
 * Responds 426 to a WebSocket that Next does not get. Without an upgrade, Next would forward the request to the target of a
 * rewrite, and wait without end. Returns false for other requests.
 */
export function rejectWebSocket(request: FastifyRequest, reply: FastifyReply): boolean {
  if (!isWebSocket(request.raw)) return false
  request.log.warn({ url: request.url }, 'WebSocket rejected: set "upgrades" to true to pass WebSockets to Next')
  reply.code(426).header('upgrade', 'websocket').header('connection', 'close, upgrade').send()
  return true
}

/** Whether it is the socket for hot reloads, under any base path. */
function isHmr({ url }: IncomingMessage): boolean {
  return /\/_next\/(webpack-)?hmr/.test(url!)
}

/** Routes an upgrade request through the hooks and the routes of the app. */
function route(app: FastifyInstance, request: IncomingMessage, socket: Socket): void {
  // Node removes its own listener before it emits `upgrade`.
  socket.on('error', () => socket.destroy())
  const response = new ServerResponse(request)
  response.shouldKeepAlive = false
  response.assignSocket(socket)
  response.once('finish', () => socket.end())
  app.routing(request, response)
}
