// Serves calls and subscriptions over WebSockets by tRPC's own handler, and closes sockets without losing a call.

import type { WebSocket } from '@fastify/websocket'
import { type AnyTRPCRouter, TRPCError } from '@trpc/server'
import { type Encoder, getWSConnectionHandler, jsonEncoder, type WSSHandlerOptions } from '@trpc/server/adapters/ws'
import type { FastifyBaseLogger, FastifyInstance, FastifyRequest } from 'fastify'
import type { TrpcHandlerOptions } from './options/types.ts'
import { CallScope } from './procedure/interceptors/call-scope.ts'
import type { Interceptor } from './procedure/interceptors/create-interceptor.ts'
import type { ProcedureRules } from './procedure/rules.ts'
import { wrapRouter } from './procedure/wrap-router.ts'

/** The pending calls of a socket. */
class Connection {
  readonly #socket: WebSocket
  readonly #encoder: Encoder
  #calls = 0
  #isAsked = false
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
      // tRPC's handler sends the response in the tick in which it gets the result.
      if (this.#calls === 0) setImmediate(() => this.#onIdle?.())
    }
  }

  /** Whether the client waits for a response, and was not asked to reconnect. */
  get isCutOff(): boolean {
    return this.#calls > 0 && !this.#isAsked
  }

  /** Asks the client to reconnect. Resolves when its calls have their responses. */
  async leave(): Promise<void> {
    if (this.#socket.readyState !== this.#socket.OPEN) return
    this.#isAsked = true
    this.#socket.send(this.#encoder.encode({ id: null, method: 'reconnect' }))
    if (this.#calls === 0) return
    await new Promise<void>((resolve) => {
      this.#onIdle = resolve
      this.#socket.once('close', resolve)
    })
  }
}

const connections = new WeakMap<WebSocket, Connection>()

/** Sockets of routers without `endStreamsOnClose`: their calls are not counted. */
const uncounted = new WeakSet<WebSocket>()

/** Close code of IANA's registry (RFC 6455): the service restarts, and clients may reconnect. */
const SERVICE_RESTART = 1012

const MISSING_RECONNECT_ON_CLOSE =
  'WebSockets were closed with pending calls: pass preClose: reconnectOnClose to @fastify/websocket'
const MISSING_END_STREAMS_ON_CLOSE =
  'WebSockets were closed without waiting for their calls: reconnectOnClose needs endStreamsOnClose of the router'

/** Options beside those of tRPC. */
export interface WebSocketOptions {
  readonly intercept: Interceptor | undefined
  readonly rules: ProcedureRules
  readonly log: Pick<FastifyBaseLogger, 'warn'>
  /** Whether clients are asked to reconnect when the app closes. */
  readonly reconnectsOnClose: boolean
}

export function serveWebSockets(
  app: FastifyInstance,
  trpcOptions: TrpcHandlerOptions<AnyTRPCRouter>,
  { intercept, rules, log, reconnectsOnClose }: WebSocketOptions,
): void {
  const { guarded } = rules
  if (guarded.length > 0) {
    log.warn(
      { rules: guarded },
      'Procedures of rules with hooks are not served over WebSockets, unless the rule has useWSS',
    )
  }
  const handlerOptions = trpcOptions as unknown as WSSHandlerOptions<AnyTRPCRouter>
  const onConnection = getWSConnectionHandler(handlerOptions)
  if (reconnectsOnClose) {
    // Runs after the hook of `@fastify/websocket`, which is registered first.
    app.addHook('preClose', async () =>
      warnOfLostCalls(app, (socket) => connections.get(socket)?.isCutOff, MISSING_RECONNECT_ON_CLOSE),
    )
  }

  app.get(app.prefix === '' ? '/' : '', { websocket: true }, (socket: WebSocket, req: FastifyRequest) => {
    if (!reconnectsOnClose) uncounted.add(socket)
    if (!intercept && !reconnectsOnClose && rules.all.length === 0) return onConnection(socket, req.raw)
    const scope = new CallScope(req, undefined)
    const connection = new Connection(socket, handlerOptions.experimental_encoder ?? jsonEncoder)
    if (reconnectsOnClose) connections.set(socket, connection)
    const router = wrapRouter(trpcOptions.router, async (options, call) => {
      const invoke = rules.useWSS(options.path) ? call : refuse
      const result = Promise.resolve(intercept ? intercept(scope, options, invoke) : invoke())
      return options.type === 'subscription' ? result : connection.during(result)
    })
    getWSConnectionHandler({ ...handlerOptions, router })(socket, req.raw)
  })
}

function refuse(): never {
  throw new TRPCError({ code: 'FORBIDDEN', message: 'This procedure is not served over WebSockets' })
}

/** Warns, if the app closes sockets whose clients lose calls. */
function warnOfLostCalls(
  { websocketServer, log }: FastifyInstance,
  loses: (socket: WebSocket) => boolean | undefined,
  message: string,
): void {
  const losing = [...websocketServer.clients].filter(loses)
  if (losing.length > 0) log.warn({ connections: losing.length }, message)
}

/**
 * Option `preClose` of `@fastify/websocket`: asks tRPC's clients to reconnect, waits for their pending calls, and closes all
 * sockets. For routers with `endStreamsOnClose`.
 *
 * @example
 * await app.register(websocket, { preClose: reconnectOnClose })
 */
export async function reconnectOnClose(this: FastifyInstance | void): Promise<void> {
  // oxlint-disable-next-line no-this-in-exported-function -- Fastify calls hooks as methods of the app
  const app = this as FastifyInstance
  const { websocketServer } = app
  warnOfLostCalls(app, (socket) => uncounted.has(socket), MISSING_END_STREAMS_ON_CLOSE)
  await Promise.all([...websocketServer.clients].map(async (socket) => connections.get(socket)?.leave()))
  for (const socket of websocketServer.clients) socket.close(SERVICE_RESTART)
  websocketServer.close()
}
