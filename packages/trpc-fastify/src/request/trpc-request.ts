// A request on the fast path, with its calls.

import type { AnyTRPCProcedure, TRPCProcedureType } from '@trpc/server'
import type { TRPCRequestInfo } from '@trpc/server/http'
import type { FastifyReply, FastifyRequest } from 'fastify'
import { CallScope } from '../procedure/interceptors/interceptor.ts'
import type { Call, Engine } from '../procedure/compile.ts'
import { Inputs } from './inputs.ts'
import { keepClass } from '../runtime/hidden-classes.ts'
import { NO_QUERY, type Query } from './query-string.ts'
import type { Serializer } from '../procedure/serializer.ts'
import { isObject } from '../runtime/value-kinds.ts'

/** A procedure of a router, and how to call it. */
export interface FastProcedure {
  readonly procedure: AnyTRPCProcedure
  readonly type: TRPCProcedureType
  readonly engine: Engine
  readonly call: (call: FastCall, ctx: unknown) => unknown
  /** Writes its results as JSON, in place of `JSON.stringify`. */
  readonly serialize: Serializer | undefined
}

/** One call of a request. */
export class FastCall implements Call {
  readonly request: FastTrpcRequest
  readonly target: FastProcedure
  readonly path: string
  readonly batchIndex: number
  readonly #inputs: Inputs
  readonly getRawInput: () => Promise<unknown>

  get type(): TRPCProcedureType {
    return this.target.type
  }

  constructor(request: FastTrpcRequest, target: FastProcedure, path: string, batchIndex: number, inputs: Inputs) {
    this.request = request
    this.target = target
    this.path = path
    this.batchIndex = batchIndex
    this.#inputs = inputs
    this.getRawInput = rawInputOf(this)
  }

  readInput(): unknown {
    const input = this.#inputs.read(this.batchIndex)
    const { lastEventId } = this.request
    if (!lastEventId) return input
    return isObject(input) ? { ...input, lastEventId } : (input ?? { lastEventId })
  }

  /** The input, if it was already read. */
  readResult(): unknown {
    return this.#inputs.result(this.batchIndex)
  }

  get signal(): AbortSignal {
    return this.request.callSignal
  }
}

/**
 * Makes the closure outside the constructor. Until V8 optimizes a constructor, closures that it keeps as properties let
 * data of past requests survive each scavenge: the process held 120 MB more. See docs/measurements.md#kept-closures
 */
function rawInputOf(call: FastCall): () => Promise<unknown> {
  return async () => call.readInput()
}

/** A request that the fast path serves. */
export class FastTrpcRequest {
  readonly req: FastifyRequest
  readonly reply: FastifyReply
  readonly isBatch: boolean
  /** The client wants each result as soon as it is ready. */
  readonly isStream: boolean
  readonly type: TRPCProcedureType
  /** Id of the last event that the client of a subscription has seen. */
  readonly lastEventId: string | null
  readonly connectionParams: TRPCRequestInfo['connectionParams']
  readonly calls: readonly FastCall[]
  /** `direct` if at least one call is. */
  readonly engine: Engine
  /** The result of `createContext`, once it is known. */
  ctx: unknown
  /** Headers from `responseMeta` so far. If it is called again for an error, it adds to them. */
  headers: Readonly<Record<string, string>> | Headers | undefined
  /** Ends a subscription from the server, and tells its procedure. */
  #ended: AbortController | undefined
  #callSignal: AbortSignal | undefined
  #controller: AbortController | undefined
  #info: TRPCRequestInfo | undefined
  #scope: CallScope | undefined

  constructor(
    req: FastifyRequest,
    reply: FastifyReply,
    { isBatch, connectionParams, lastEventId }: Query,
    isStream: boolean,
    targets: readonly FastProcedure[],
    paths: readonly string[],
    inputs: Inputs,
  ) {
    this.req = req
    this.reply = reply
    this.isBatch = isBatch
    this.isStream = isStream
    this.connectionParams = connectionParams
    this.lastEventId = lastEventId
    this.engine = targets.some(({ engine }) => engine === 'direct') ? 'direct' : 'compiled'
    this.type = targets[0]!.type
    this.calls = targets.map((target, index) => new FastCall(this, target, paths[index]!, index, inputs))
  }

  /** Argument of `createContext` and `responseMeta`. */
  get info(): TRPCRequestInfo {
    return (this.#info ??= new RequestInfo(this) as unknown as TRPCRequestInfo)
  }

  /** State that its calls share. */
  get scope(): CallScope {
    const { req, reply, isBatch, isStream } = this
    return (this.#scope ??= new CallScope(req, reply, { isBatch, hasSerializers: !isStream }))
  }

  /** Aborts a subscription that has lasted long enough. */
  end(): void {
    this.#ended?.abort()
  }

  /** Signal for procedures: the server can end a subscription, too. */
  get callSignal(): AbortSignal {
    if (this.type !== 'subscription') return this.signal
    this.#ended ??= new AbortController()
    return (this.#callSignal ??= AbortSignal.any([this.signal, this.#ended.signal]))
  }

  /** Aborts when the connection closes before the response was sent. */
  get signal(): AbortSignal {
    if (this.#controller) return this.#controller.signal
    const controller = (this.#controller = new AbortController())
    const { req, reply } = this
    const abort = (): void => {
      reply.raw.off('close', onClose)
      req.raw.off('aborted', abort)
      controller.abort()
    }
    const onClose = (): void => {
      if (reply.raw.writableEnded) req.raw.off('aborted', abort)
      else abort()
    }
    if (reply.raw.destroyed && !reply.raw.writableEnded) controller.abort()
    else {
      reply.raw.once('close', onClose)
      req.raw.once('aborted', abort)
    }
    return controller.signal
  }
}

/** Argument of `createContext` and `responseMeta`. `signal` and `url` are created on demand. */
class RequestInfo {
  static readonly #signal: PropertyDescriptor & ThisType<RequestInfo> = {
    get() {
      return this.#request.signal
    },
    enumerable: true,
    configurable: true,
  }
  static readonly #urlOf: PropertyDescriptor & ThisType<RequestInfo> = {
    get() {
      return (this.#url ??= urlOf(this.#request.req))
    },
    enumerable: true,
    configurable: true,
  }
  readonly #request: FastTrpcRequest
  #url: URL | undefined
  readonly isBatchCall: boolean
  readonly accept: TRPCRequestInfo['accept']
  readonly calls: TRPCRequestInfo['calls']
  readonly type: TRPCProcedureType
  readonly connectionParams: TRPCRequestInfo['connectionParams']

  constructor(request: FastTrpcRequest) {
    this.#request = request
    this.isBatchCall = request.isBatch
    this.accept = request.isStream ? 'application/jsonl' : null
    this.calls = request.calls.map((call) => ({
      batchIndex: call.batchIndex,
      path: call.path,
      procedure: call.target.procedure,
      getRawInput: call.getRawInput,
      result: () => call.readResult(),
    }))
    this.type = request.type
    this.connectionParams = request.connectionParams
    Object.defineProperty(this, 'signal', RequestInfo.#signal)
    Object.defineProperty(this, 'url', RequestInfo.#urlOf)
  }
}

const noProcedure: FastProcedure = {
  procedure: (() => {}) as unknown as AnyTRPCProcedure,
  type: 'query',
  engine: 'compiled',
  call: () => undefined,
  serialize: undefined,
}
const blank = new FastTrpcRequest(
  undefined as unknown as FastifyRequest,
  undefined as unknown as FastifyReply,
  NO_QUERY,
  false,
  [noProcedure],
  [''],
  new Inputs(null, false, 1, (input) => input),
)
keepClass(blank)
keepClass(blank.info)
keepClass(blank.scope)

function urlOf({ raw }: FastifyRequest): URL {
  const isSecure =
    raw.headers[':scheme'] === 'https' ||
    ('encrypted' in raw.socket && (raw.socket as { encrypted?: boolean }).encrypted)
  const host = raw.headers.host ?? raw.headers[':authority'] ?? 'localhost'
  return new URL(raw.url!, `${isSecure ? 'https:' : 'http:'}//${String(host)}`)
}
