// Calls and subscriptions over WebSockets: served by tRPC's own handler, closed without a call lost.

import type { WebSocket } from '@fastify/websocket'
import type { AnyTRPCRouter } from '@trpc/server'
import { type Encoder, getWSConnectionHandler, jsonEncoder, type WSSHandlerOptions } from '@trpc/server/adapters/ws'
import type { FastifyInstance, FastifyRequest } from 'fastify'
import { type Around, CallScope } from './procedure/interceptors/interceptor.ts'
import { routerThrough } from './procedure/trpc-internals.ts'
import type { TrpcHandlerOptions } from './options/types.ts'

/** What is under way on a socket, for when it is to close. */
class Connection {
  readonly #socket: WebSocket
  readonly #encoder: Encoder
  #calls = 0
  #onIdle: (() => void) | undefined

  constructor(socket: WebSocket, encoder: Encoder) {
    this.#socket = socket
    this.#encoder = encoder
  }

  async during<T>(call: Promise<T>): Promise<T> {
    this.#calls++
    try {
      return await call
    } finally {
      this.#calls--
      // tRPC's handler sends the answer in the turn in which it gets the result.
      if (this.#calls === 0) setImmediate(() => this.#onIdle?.())
    }
  }

  /** Tells the client to go on over another connection; done when its calls have their answers. */
  async leave(): Promise<void> {
    if (this.#socket.readyState !== this.#socket.OPEN) return
    this.#socket.send(this.#encoder.encode({ id: null, method: 'reconnect' }))
    if (this.#calls === 0) return
    await new Promise<void>((resolve) => {
      this.#onIdle = resolve
      this.#socket.once('close', resolve)
    })
  }
}

const connections = new WeakMap<WebSocket, Connection>()

/** RFC 6455 has it from the registry of IANA: the service restarts, come back. */
const SERVICE_RESTART = 1012

/** How the sockets of a router are served beside what tRPC's own handler does. */
export interface WebSocketOptions {
  readonly around: Around | undefined
  readonly leavesOnClose: boolean
}

/** Serves the WebSockets of a router. */
export function serveWebSockets(
  app: FastifyInstance,
  trpcOptions: TrpcHandlerOptions<AnyTRPCRouter>,
  { around, leavesOnClose }: WebSocketOptions,
): void {
  const handlerOptions = trpcOptions as unknown as WSSHandlerOptions<AnyTRPCRouter>
  const onConnection = getWSConnectionHandler(handlerOptions)

  app.get(app.prefix === '' ? '/' : '', { websocket: true }, (socket: WebSocket, req: FastifyRequest) => {
    if (!around && !leavesOnClose) return onConnection(socket, req.raw)
    const scope = new CallScope(req, undefined)
    const connection = new Connection(socket, handlerOptions.experimental_encoder ?? jsonEncoder)
    if (leavesOnClose) connections.set(socket, connection)
    const router = routerThrough(trpcOptions.router, (options, call) => {
      const result = Promise.resolve(around ? around(scope, options, call) : call())
      return options.type === 'subscription' ? result : connection.during(result)
    })
    getWSConnectionHandler({ ...handlerOptions, router })(socket, req.raw)
  })
}

/**
 * Option `preClose` for `@fastify/websocket`: tells tRPC's clients to connect again, lets the calls that
 * they have made end, and closes all sockets. Only for routers with `endStreamsOnClose`.
 *
 * @example
 * await app.register(websocket, { preClose: reconnectOnClose })
 */
export async function reconnectOnClose(this: FastifyInstance | void): Promise<void> {
  // oxlint-disable-next-line no-this-in-exported-function -- Fastify calls hooks as methods of the app
  const { websocketServer } = this as FastifyInstance
  await Promise.all([...websocketServer.clients].map(async (socket) => connections.get(socket)?.leave()))
  for (const socket of websocketServer.clients) socket.close(SERVICE_RESTART)
  websocketServer.close()
}
