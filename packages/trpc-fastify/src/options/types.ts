import type { AnyTRPCRouter, TRPCError, TRPCProcedureType } from '@trpc/server'
import type { FastifyHandlerOptions, FastifyTRPCPluginOptions } from '@trpc/server/adapters/fastify'
import type { FastifyReply, FastifyRequest, FastifyServerOptions, LogLevel, RouteShorthandOptions } from 'fastify'

/** Router and handler options, under the names of `fastifyTRPCPlugin`. */
export type TrpcHandlerOptions<TRouter extends AnyTRPCRouter> = FastifyHandlerOptions<
  TRouter,
  FastifyRequest,
  FastifyReply
>

/**
 * How procedures are called. `compiled`: step by step, without tRPC's promise for each step; a
 * procedure that is not built as expected is called `direct`, by tRPC's own code; `official`: every
 * request goes to tRPC's own adapter.
 */
export type EngineOption = (typeof ENGINES)[number]
export const ENGINES = ['compiled', 'direct', 'official'] as const

/**
 * How results are written as JSON. `output`: by the schema of the procedure's `.output()`, where it can be
 * written as a JSON schema (by the Standard Schema of zod and others); an object: a JSON schema, which
 * must name all that is to be sent; a function: gives the JSON itself.
 */
export type SerializerOption = 'output' | Readonly<Record<string, unknown>> | ((data: unknown) => string)

/** The hooks that rules can have, by the names of Fastify. */
export const HOOKS = ['onRequest', 'preValidation', 'preHandler', 'onSend', 'onResponse'] as const

/** What a limiter says of a request: the result of `app.createRateLimit()` of `@fastify/rate-limit`. */
export interface RateLimitResult {
  /** The client is on the list of those that are not limited. */
  readonly isAllowed: boolean
  readonly isExceeded?: boolean
  readonly isBanned?: boolean
  /** Seconds until the client may call again. */
  readonly ttlInSeconds?: number
}

/** What holds for the procedures at a path, or below it. */
export interface ProcedureRule {
  /** Fastify hooks: each runs once for a request that calls such a procedure, before the body is read. */
  onRequest?: RouteShorthandOptions['onRequest']
  /** The same, when the body was read. */
  preValidation?: RouteShorthandOptions['preValidation']
  /** The same, before the context is created. */
  preHandler?: RouteShorthandOptions['preHandler']
  /** The same, before the answer is sent. */
  onSend?: RouteShorthandOptions['onSend']
  /** The same, when the answer was sent. */
  onResponse?: RouteShorthandOptions['onResponse']
  /** The most bytes that the body of a request may have; the smallest limit of a batch counts. */
  bodyLimit?: number
  /** Milliseconds after which a call fails with `TIMEOUT` and its `signal` aborts; not for subscriptions. */
  timeout?: number
  /** Asked before each call, such as `app.createRateLimit({ max: 5, timeWindow: '1 minute' })`; refuses with `TOO_MANY_REQUESTS`. */
  rateLimit?: (request: FastifyRequest) => Promise<RateLimitResult>
  /** Writes results as JSON: `'output'` for what fits the procedure's output schema, a JSON schema, or a function. */
  serializer?: SerializerOption
}

/** A call that has ended. */
export interface EndedCall {
  readonly path: string
  readonly type: TRPCProcedureType
  /** Place in its batch, from 0. */
  readonly batchIndex: number
  /** Milliseconds; of a subscription until its last event, of other calls until their result. */
  readonly duration: number
  /** Why it failed; nothing when it did not. */
  readonly error: TRPCError | undefined
  readonly req: FastifyRequest
}

/** Options of {@link trpcPlugin}: those of `fastifyTRPCPlugin`, and what goes beyond it, off by default. */
export interface TrpcPluginOptions<TRouter extends AnyTRPCRouter> extends FastifyTRPCPluginOptions<TRouter> {
  /** The path that the router is served at, such as `/trpc`. @default '' */
  prefix?: string
  /** Whether WebSockets are served too; `@fastify/websocket` must be registered before. @default false */
  useWSS?: boolean
  /** The router, and how it is served: the options below. */
  trpcOptions: FastifyTRPCPluginOptions<TRouter>['trpcOptions']
  /** How procedures are called: `'compiled'`, `'direct'`, or `'official'` for tRPC's own adapter. @default 'compiled' */
  engine?: EngineOption
  /** Rules for some procedures, by path: `'post.list'`, `'post.*'` for all below, `'*'` for all. @default {} */
  procedures?: Readonly<Record<string, ProcedureRule>>
  /** The most calls of a batch that run at the same time. @default Infinity */
  batchConcurrency?: number
  /** The most bytes that the results of a batch may have; calls beyond fail with `PAYLOAD_TOO_LARGE`. @default Infinity */
  maxBatchResponseSize?: number
  /** Called when a call has ended, with its path, duration and error: for metrics. @default none */
  onCallEnd?: (call: EndedCall) => void
  /** The level that each call is logged at when it has ended, with its path, duration and outcome. @default 'silent' */
  callLogLevel?: LogLevel
  /** Whether closing the app ends subscriptions, whose clients then come back to another server. @default false */
  endStreamsOnClose?: boolean
}

/** Options of {@link createTrpcFastify}: the plugin's, in one object, and those of Fastify itself. */
export type CreateTrpcFastifyOptions<TRouter extends AnyTRPCRouter> = Omit<TrpcPluginOptions<TRouter>, 'trpcOptions'> &
  TrpcPluginOptions<TRouter>['trpcOptions'] & {
    /** Options of `Fastify()`. @default {} */
    fastify?: FastifyServerOptions
  }
