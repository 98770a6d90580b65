// Sends each request to a worker of the build that it names: see the option `linger`.

import { once } from 'node:events'
import { createServer, type IncomingMessage, Server as HttpServer, type ServerResponse } from 'node:http'
import { Server as HttpsServer } from 'node:https'
import type { Server } from 'node:net'
import { setTimeout as sleep } from 'node:timers/promises'
import { inspect } from 'node:util'
import { Connections } from '../connections/connections.ts'
import { errorCodes } from '../errors.ts'
import type { OtherBuild } from '../ipc/messages.ts'
import { sendToPrimary } from '../ipc/send-to-primary.ts'
import { restoreClient } from './client-header.ts'
import { forward } from './forward-request.ts'
import { collectBuilds, type RequestedBuild } from './identify-build.ts'

type Listener = (request: IncomingMessage, response: ServerResponse) => void

const HTTP_1 = 'The option "linger" needs an HTTP/1 server: requests of HTTP/2 cannot be forwarded to another build'
/** Milliseconds in which other workers learn that this one retires. */
const NOTICE_MS = 300
/** The server that clients connect to has checked the size already. */
const MAX_HEADER_SIZE = 2 ** 20

/** Forwards requests for other builds, and serves those that workers of other builds forward. */
export class BuildRouting {
  readonly #socket: string
  readonly #builds = collectBuilds()
  /** Sockets of the workers of another build, by its ids. */
  #others = new Map<string, readonly string[]>()
  #turn = 0
  #hasWarned = false
  /** For forwarded requests. */
  readonly #server = createServer({
    ...{ maxHeaderSize: MAX_HEADER_SIZE, requireHostHeader: false, headersTimeout: 0, requestTimeout: 0 },
  })
  readonly #connections = new Connections(this.#server)

  /** @param socket path of the socket for forwarded requests */
  constructor(socket: string) {
    this.#socket = socket
  }

  /** Whether a server is that for forwarded requests. */
  owns(server: Server): boolean {
    return server === this.#server
  }

  /**
   * Accepts forwarded requests for an app, and names its build to the primary.
   *
   * @throws CLUSTERED_SERVER_INVALID_APP for an HTTP/2 server
   */
  async open(app: Server): Promise<void> {
    if (!(app instanceof HttpServer || app instanceof HttpsServer))
      throw new errorCodes.CLUSTERED_SERVER_INVALID_APP(HTTP_1)
    const listeners = app.listeners('request') as Listener[]
    const serve: Listener = (request, response) => {
      for (const listener of listeners) listener.call(app, request, response)
    }
    app.removeAllListeners('request')
    app.on('request', this.#route(serve))
    this.#server.on('request', (request, response) => {
      if (restoreClient(request)) serve(request, response)
      else request.socket.destroy()
    })
    this.#server.maxHeadersCount = 0
    // Exclusive: otherwise node:cluster would request the socket from the primary.
    this.#server.listen({ path: this.#socket, exclusive: true })
    await once(this.#server, 'listening')
    const ids = [...new Set(this.#builds.flatMap((build) => build.ids))].filter((id) => id !== '')
    const folders = [...new Set(this.#builds.flatMap(({ folder }) => folder ?? []))]
    sendToPrimary({ type: 'build', ids, folders })
  }

  /** Sets the other builds, the newest one first. */
  update(builds: readonly OtherBuild[]): void {
    const own = new Set(this.#builds.flatMap(({ ids }) => ids))
    this.#others = new Map()
    for (const { ids, sockets } of builds)
      for (const id of ids) if (!own.has(id) && !this.#others.has(id)) this.#others.set(id, sockets)
  }

  /** Stops accepting forwarded requests, and resolves when the last one has ended. */
  async drain(timeout: number): Promise<void> {
    await sleep(NOTICE_MS)
    await this.#connections.drain(false, timeout)
  }

  #route(serve: Listener): Listener {
    return (request, response) => {
      const requested = this.#others.size === 0 ? undefined : this.#requestedBy(request)
      const sockets = requested && this.#others.get(requested.id)
      if (!sockets) return serve(request, response)
      const first = this.#turn++ % sockets.length
      const inTurn = [...sockets.slice(first), ...sockets.slice(0, first)]
      forward({ request, response, header: requested.header, serveHere: () => serve(request, response) }, inTurn)
    }
  }

  #requestedBy(request: IncomingMessage): RequestedBuild | undefined {
    try {
      for (const build of this.#builds) {
        const requested = build.requestedBy(request)
        if (requested) return requested
      }
    } catch (error) {
      // A request such as `GET //` must not end the worker by an error of `new URL()`.
      const reason = error instanceof Error ? error.message : inspect(error)
      if (!this.#hasWarned) process.emitWarning(`requestedBy of identifyBuild() has failed: ${reason}`)
      this.#hasWarned = true
    }
    return undefined
  }
}
