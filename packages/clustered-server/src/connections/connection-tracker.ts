import { type IncomingMessage, Server as HttpServer } from 'node:http'
import type { Http2Session } from 'node:http2'
import type { Server, Socket } from 'node:net'
import { Server as TlsServer } from 'node:tls'

/** WebSocket close frame with status 1001, "going away". */
const GOING_AWAY = Buffer.from([0x88, 0x02, 0x03, 0xe9])

/** Calls for changes of the connections. */
interface TrackerListeners {
  onClose: (socket: Socket) => void
  onSession: (session: Http2Session) => void
}

/** The open connections of a server, and the number of its requests. */
export class ConnectionTracker {
  readonly open: Set<Socket> = new Set()
  /** Sessions of HTTP/2. */
  readonly sessions: Set<Http2Session> = new Set()
  /** Called when a connection, session or TLS handshake has ended. */
  onChange: () => void = () => {}
  readonly #server: Server
  readonly #listeners: TrackerListeners
  readonly #webSockets = new Set<Socket>()
  #handshakes = 0
  #requests = 0
  readonly #onNewListener = (event: string | symbol): void => {
    if (event !== 'upgrade') return
    this.#server.off('newListener', this.#onNewListener)
    this.#trackWebSockets()
  }

  constructor(server: Server, listeners: TrackerListeners) {
    this.#server = server
    this.#listeners = listeners
    if (server instanceof TlsServer) this.#trackSecure(server)
    else server.on('connection', (socket: Socket) => this.#add(socket))
    server.on('session', (session: Http2Session) => this.#addSession(session))
    // A `request` listener makes HTTP/2 create requests like those of HTTP/1, which an app of streams may not want.
    const hasRequests = server instanceof HttpServer || server.listenerCount('request') > 0
    server.on(hasRequests ? 'request' : 'stream', () => this.#requests++)
    // Without an `upgrade` listener a server responds to upgrades as to any request, and must keep doing so.
    if (server.listenerCount('upgrade') > 0) this.#trackWebSockets()
    else server.on('newListener', this.#onNewListener)
  }

  /** Number of requests received. */
  get requests(): number {
    return this.#requests
  }

  /** Number of TLS handshakes in progress. */
  get handshakes(): number {
    return this.#handshakes
  }

  /** Asks WebSocket clients to close their connections. */
  sendCloseFrames(): void {
    for (const socket of this.#webSockets) if (socket.writable && socket.bytesWritten > 0) socket.write(GOING_AWAY)
  }

  /** Closes all connections immediately. */
  destroy(): void {
    for (const session of this.sessions) session.destroy()
    for (const socket of this.open) socket.destroy()
  }

  #add(socket: Socket): void {
    this.open.add(socket)
    socket.once('close', () => {
      this.open.delete(socket)
      this.#listeners.onClose(socket)
      this.onChange()
    })
  }

  #addSession(session: Http2Session): void {
    this.sessions.add(session)
    this.#listeners.onSession(session)
    session.once('close', () => {
      this.sessions.delete(session)
      this.onChange()
    })
  }

  #trackSecure(server: Server): void {
    server.on('connection', () => this.#handshakes++)
    const onEnd = (): void => {
      this.#handshakes--
      this.onChange()
    }
    server.on('tlsClientError', onEnd)
    server.on('secureConnection', (socket: Socket) => {
      this.#add(socket)
      onEnd()
    })
  }

  #trackWebSockets(): void {
    this.#server.prependListener('upgrade', ({ headers }: IncomingMessage, socket: Socket) => {
      if (headers.upgrade?.toLowerCase() !== 'websocket') return
      this.#webSockets.add(socket)
      socket.once('close', () => this.#webSockets.delete(socket))
    })
  }
}
