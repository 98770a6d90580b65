import type { AnyTRPCRouter, TRPCError, TRPCProcedureType } from '@trpc/server'
import type { NodeHTTPCreateContextFnOptions, NodeHTTPCreateContextOption } from '@trpc/server/adapters/node-http'
import type { HTTPBaseHandlerOptions } from '@trpc/server/http'
import type { FastifyReply, FastifyRequest, FastifyServerOptions, LogLevel, RouteShorthandOptions } from 'fastify'

// These types equal those of `@trpc/server/adapters/fastify`, whose declarations need `@types/ws`: without it, `tsc` fails
// in every project that has no `skipLibCheck`.

/** Argument of `createContext`. With `useWSS`, `req` and `res` of WebSockets are an `IncomingMessage` and a `WebSocket`. */
export type CreateFastifyContextOptions = NodeHTTPCreateContextFnOptions<FastifyRequest, FastifyReply>

/** Router and handler options, under the names of `fastifyTRPCPlugin`. */
export type TrpcHandlerOptions<TRouter extends AnyTRPCRouter> = HTTPBaseHandlerOptions<TRouter, FastifyRequest> &
  NodeHTTPCreateContextOption<TRouter, FastifyRequest, FastifyReply> & {
    /** Maximum size of an upload, in bytes. Fastify's `bodyLimit` limits JSON. */
    maxBodySize?: number
  }

/** Options of tRPC's WebSockets, for `useWSS`. */
export interface TrpcWebSocketOptions {
  /** Pings to clients. */
  keepAlive?: {
    enabled: boolean
    /** Time between pings, in milliseconds. @default 30000 */
    pingMs?: number
    /** Time to wait for a pong before the connection is closed, in milliseconds. @default 5000 */
    pongWaitMs?: number
  }
  /** Do not respond to pings of clients. @default false */
  dangerouslyDisablePong?: boolean
  /** Encoder of messages. @default JSON */
  experimental_encoder?: {
    encode(data: unknown): string | Uint8Array<ArrayBuffer>
    decode(data: string | ArrayBuffer | Uint8Array): unknown
  }
}

/**
 * A serializer of results. `'output'` uses the schema of the procedure's `.output()`, if it has a JSON schema. An object is a
 * JSON schema, which must name each property to send. A function returns JSON.
 */
export type SerializerOption = 'output' | Readonly<Record<string, unknown>> | ((data: unknown) => string)

/** Result of a rate limiter, as of `app.createRateLimit()` of `@fastify/rate-limit`. */
export interface RateLimitResult {
  /** Whether the client is on the allow list. */
  readonly isAllowed: boolean
  readonly isExceeded?: boolean
  readonly isBanned?: boolean
  /** Time until the client may call again, in seconds. */
  readonly ttlInSeconds?: number
}

/** Fastify hooks that a rule may have. */
export const RULE_HOOKS = ['onRequest', 'preValidation', 'preHandler', 'onSend', 'onResponse'] as const

/** A rule for the procedures at a path or below it. */
export interface ProcedureRule {
  /** Fastify hooks to run before the body is parsed. Each runs once per request that calls such a procedure. */
  onRequest?: RouteShorthandOptions['onRequest']
  /** Fastify hooks to run after the body is parsed. */
  preValidation?: RouteShorthandOptions['preValidation']
  /** Fastify hooks to run before the context is created. */
  preHandler?: RouteShorthandOptions['preHandler']
  /** Fastify hooks to run before the response is sent. */
  onSend?: RouteShorthandOptions['onSend']
  /** Fastify hooks to run after the response is sent. */
  onResponse?: RouteShorthandOptions['onResponse']
  /** Maximum size of a request body, in bytes. The smallest limit of a batch applies. @default Fastify's bodyLimit */
  bodyLimit?: number
  /** Maximum time of a call, in milliseconds. Then it fails with `TIMEOUT` and its `signal` aborts. Subscriptions have no limit. @default none */
  timeout?: number
  /** Rate limiter, such as `app.createRateLimit({ max: 5, timeWindow: '1 minute' })`. Calls above the limit fail with `TOO_MANY_REQUESTS`. @default none */
  rateLimit?: (request: FastifyRequest) => Promise<RateLimitResult>
  /** Serializer of results: `'output'` for the procedure's output schema, a JSON schema, or a function that returns JSON. @default JSON.stringify */
  serializer?: SerializerOption
  /** Serve calls over WebSockets, which run no hooks of rules. Others fail with `FORBIDDEN`. @default true, false for a rule with `onRequest`, `preValidation` or `preHandler` */
  useWSS?: boolean
}

/** A call of a procedure, also of one in a batch. */
export interface ObservedCall {
  readonly path: string
  readonly type: TRPCProcedureType
  /** Position in its batch, from 0. */
  readonly batchIndex: number
  readonly isBatch: boolean
  readonly isWebSocket: boolean
  /** The request. On a WebSocket, the one that opened it. */
  readonly req: FastifyRequest
}

/** A call that has ended. */
export interface CallRecord extends ObservedCall {
  /** Time until the result, or until the last value of a stream or subscription, in milliseconds. */
  readonly duration: number
  /** Undefined if the call succeeded. */
  readonly error: TRPCError | undefined
}

/** Receives the ends of calls, for metrics and traces. Its errors are logged once and break no response. */
export interface TrpcObserver<TState = unknown> {
  /** Called before the hooks of a request to the router. */
  requestStarted?(req: FastifyRequest): void
  /** Called before each call. Its result is passed to the other functions. */
  callStarted?(call: ObservedCall): TState
  /** Runs code of the call in a context, such as an active span. Must call `code` once and return its result. */
  runCall?(state: TState, code: () => unknown): unknown
  /** Called after each call, also those of a batch, and after the last value of a stream or subscription. */
  callEnded?(record: CallRecord, state: TState): void
}

/** Options of {@link trpcPlugin}: those of `fastifyTRPCPlugin`, and its own ones, which are off by default. */
export interface TrpcPluginOptions<TRouter extends AnyTRPCRouter> {
  /** Path prefix of the router, such as `/trpc`. @default '' */
  prefix?: string
  /** Serve WebSockets, too. Register `@fastify/websocket` before. @default false */
  useWSS?: boolean
  /** The router and tRPC's own options, see below. */
  trpcOptions: TrpcHandlerOptions<TRouter> & TrpcWebSocketOptions
  /** Serve requests on the fast path. `false` leaves all of them to tRPC's own adapter. @default true */
  fastPath?: boolean
  /** Rules by the path of procedures: `'post.list'`, `'post.*'` for all below, `'*'` for all. @default {} */
  procedures?: Readonly<Record<string, ProcedureRule>>
  /** Maximum number of calls of a batch that run at the same time. @default Infinity */
  batchConcurrency?: number
  /** Maximum size of all results of a batch, in bytes. Calls above it fail with `PAYLOAD_TOO_LARGE`. @default Infinity */
  maxBatchResponseSize?: number
  /** Observers of calls, for metrics. @default [] */
  observers?: readonly TrpcObserver[]
  /** Log level of a line per call with path, duration and outcome. @default 'silent' */
  callLogLevel?: LogLevel
  /** End subscriptions when the app closes. Their clients reconnect, to another server behind a load balancer. @default false */
  endStreamsOnClose?: boolean
}

/** Options of {@link createTrpcFastify}: all options of the plugin in one object, and those of Fastify. */
export type CreateTrpcFastifyOptions<TRouter extends AnyTRPCRouter> = Omit<TrpcPluginOptions<TRouter>, 'trpcOptions'> &
  TrpcPluginOptions<TRouter>['trpcOptions'] & {
    /** Options of `Fastify()`. @default {} */
    fastify?: FastifyServerOptions
  }
