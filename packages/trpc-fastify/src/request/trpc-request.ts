// A request on the fast path, with its calls.

import type { AnyTRPCProcedure, TRPCProcedureType } from '@trpc/server'
import type { TRPCRequestInfo } from '@trpc/server/http'
import type { FastifyReply, FastifyRequest } from 'fastify'
import type { CallMode } from '../procedure/compile.ts'
import { CallScope } from '../procedure/interceptors/call-scope.ts'
import type { RegisteredProcedure, RequestCall } from '../procedure/registry.ts'
import { retainClass } from '../runtime/hidden-classes.ts'
import { isObject } from '../runtime/type-guards.ts'
import { type CallInputs, Inputs } from './inputs.ts'
import { RequestInfo } from './request-info.ts'

/** The parts of a request that are parsed. */
export interface ParsedRequest {
  readonly isBatch: boolean
  readonly isStream: boolean
  readonly connectionParams: TRPCRequestInfo['connectionParams']
  readonly lastEventId: string | null
  readonly procedures: readonly RegisteredProcedure[]
  readonly paths: readonly string[]
  readonly inputs: CallInputs
}

/** One call of a request. */
export class TrpcCall implements RequestCall {
  readonly request: TrpcRequest
  readonly target: RegisteredProcedure
  readonly path: string
  readonly batchIndex: number
  readonly #inputs: CallInputs
  readonly getRawInput: () => Promise<unknown>

  get type(): TRPCProcedureType {
    return this.target.type
  }

  get scope(): CallScope {
    return this.request.scope
  }

  constructor(request: TrpcRequest, target: RegisteredProcedure, path: string, batchIndex: number, inputs: CallInputs) {
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
function rawInputOf(call: TrpcCall): () => Promise<unknown> {
  return async () => call.readInput()
}

/** A request that the fast path serves. */
export class TrpcRequest {
  readonly req: FastifyRequest
  readonly reply: FastifyReply
  readonly isBatch: boolean
  /** The client wants each result as soon as it is ready. */
  readonly isStream: boolean
  readonly type: TRPCProcedureType
  /** Id of the last event that the client of a subscription has received. */
  readonly lastEventId: string | null
  readonly connectionParams: TRPCRequestInfo['connectionParams']
  readonly calls: readonly TrpcCall[]
  /** `uncompiled` if at least one call is. */
  readonly mode: CallMode
  /** The result of `createContext`, once it is known. */
  ctx: unknown
  /** Headers from `responseMeta` so far. If it is called again for an error, it adds to them. */
  headers: Readonly<Record<string, string>> | Headers | undefined
  /** Ends a subscription from the server. */
  #ended: AbortController | undefined
  #callSignal: AbortSignal | undefined
  #controller: AbortController | undefined
  #info: TRPCRequestInfo | undefined
  #scope: CallScope | undefined

  constructor(
    req: FastifyRequest,
    reply: FastifyReply,
    { isBatch, isStream, connectionParams, lastEventId, procedures, paths, inputs }: ParsedRequest,
  ) {
    this.req = req
    this.reply = reply
    this.isBatch = isBatch
    this.isStream = isStream
    this.connectionParams = connectionParams
    this.lastEventId = lastEventId
    this.mode = procedures.some(({ mode }) => mode === 'uncompiled') ? 'uncompiled' : 'compiled'
    this.type = procedures[0]!.type
    this.calls = procedures.map((target, index) => new TrpcCall(this, target, paths[index]!, index, inputs))
  }

  /** Argument of `createContext` and `responseMeta`. */
  get info(): TRPCRequestInfo {
    return (this.#info ??= new RequestInfo(this) as unknown as TRPCRequestInfo)
  }

  /** State that its calls share. */
  get scope(): CallScope {
    const { req, reply, isBatch, isStream } = this
    return (this.#scope ??= new CallScope(req, reply, { isBatch, isStream, hasSerializers: !isStream }))
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

const noProcedure: RegisteredProcedure = {
  procedure: (() => {}) as unknown as AnyTRPCProcedure,
  type: 'query',
  mode: 'compiled',
  call: () => undefined,
  serialize: undefined,
}
const nothingParsed: ParsedRequest = {
  isBatch: false,
  isStream: false,
  connectionParams: null,
  lastEventId: null,
  procedures: [noProcedure],
  paths: [''],
  inputs: new Inputs(null, false, 1, (input) => input),
}
const blank = new TrpcRequest(
  undefined as unknown as FastifyRequest,
  undefined as unknown as FastifyReply,
  nothingParsed,
)
retainClass(nothingParsed)
retainClass(blank)
retainClass(blank.info)
retainClass(blank.scope)
