// Who gets a socket that asks for an upgrade: a route of the app, or Next.
//
// Next itself takes every socket of its server, and ends those whose path it has a page for. Here an upgrade goes the way
// of a request: through the hooks of the app, to the route that matches, and to Next if none does.

import { type IncomingMessage, type Server, ServerResponse } from 'node:http'
import type { Socket } from 'node:net'
import type { FastifyInstance, FastifyReply, FastifyRequest } from 'fastify'

interface Upgrade {
  socket: Socket
  head: Buffer
}

type UpgradeHandler = (request: IncomingMessage, socket: Socket, head: Buffer) => Promise<void>

const upgradesOf = new WeakMap<Server, Upgrades>()

/** The upgrades of one server, of all Next apps that are behind it. */
export class Upgrades {
  readonly #asked = new WeakMap<IncomingMessage, Upgrade>()
  /** Sockets that Next has; a server that closes waits for them. */
  readonly #taken = new Set<Socket>()

  private constructor(app: FastifyInstance) {
    const { server } = app
    const onUpgrade = (request: IncomingMessage, socket: Socket, head: Buffer): void => {
      this.#asked.set(request, { socket, head })
      // It routes all that asks for an upgrade, by a listener of its own.
      if (app.hasDecorator('websocketServer')) return
      // Somebody else listens, and knows which paths are its own.
      if (server.listenerCount('upgrade') > 1 && !isOfDevServer(request)) return
      route(app, request, socket)
    }
    // Before the listener of @fastify/websocket.
    server.prependListener('upgrade', onUpgrade)
    app.addHook('preClose', async () => {
      server.removeListener('upgrade', onUpgrade)
      for (const socket of this.#taken) socket.destroy()
    })
  }

  /** Those of an app; the first call listens. */
  static of(app: FastifyInstance): Upgrades {
    const upgrades = upgradesOf.get(app.server) ?? new Upgrades(app)
    upgradesOf.set(app.server, upgrades)
    return upgrades
  }

  /** Hands a request that asks for an upgrade to Next, and says whether it was one. */
  take(request: FastifyRequest, reply: FastifyReply, upgrade: UpgradeHandler): boolean {
    const asked = this.#asked.get(request.raw)
    if (!asked) return false
    const { socket, head } = asked
    reply.hijack()
    reply.raw.detachSocket(socket)
    this.#taken.add(socket)
    socket.once('close', () => this.#taken.delete(socket))
    void hand(request, { socket, head }, upgrade)
    return true
  }
}

async function hand({ raw, log }: FastifyRequest, { socket, head }: Upgrade, upgrade: UpgradeHandler): Promise<void> {
  const written = socket.bytesWritten
  try {
    await upgrade(raw, socket, head)
    // Next leaves sockets alone that it has nothing for.
    if (socket.bytesWritten === written) socket.end('HTTP/1.1 404 Not Found\r\nConnection: close\r\n\r\n')
  } catch (error) {
    log.error({ err: error }, 'Next has failed')
    socket.destroy()
  }
}

/** Whether it is the socket by which pages learn of changes, of whatever base path. */
function isOfDevServer({ url }: IncomingMessage): boolean {
  return /\/_next\/(webpack-)?hmr/.test(url!)
}

/** Sends a request that asks for an upgrade through the hooks and the routes of the app. */
function route(app: FastifyInstance, request: IncomingMessage, socket: Socket): void {
  // Node takes its own listener away before it hands a socket over.
  socket.on('error', () => socket.destroy())
  const response = new ServerResponse(request)
  response.shouldKeepAlive = false
  response.assignSocket(socket)
  response.once('finish', () => socket.end())
  app.routing(request, response)
}
