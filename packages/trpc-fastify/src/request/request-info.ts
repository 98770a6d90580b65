// The argument `info` of `createContext` and `responseMeta`.

import type { AnyTRPCProcedure, TRPCProcedureType } from '@trpc/server'
import type { TRPCRequestInfo } from '@trpc/server/http'
import type { FastifyRequest } from 'fastify'

interface InfoCall {
  readonly batchIndex: number
  readonly path: string
  readonly target: { readonly procedure: AnyTRPCProcedure }
  readonly getRawInput: () => Promise<unknown>
  readResult(): unknown
}

/** The properties of a request that the info has. */
export interface InfoSource {
  readonly req: FastifyRequest
  readonly isBatch: boolean
  readonly isStream: boolean
  readonly calls: readonly InfoCall[]
  readonly type: TRPCProcedureType
  readonly connectionParams: TRPCRequestInfo['connectionParams']
  readonly signal: AbortSignal
}

/** `signal` and `url` are created on demand. */
export class RequestInfo {
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
  readonly #request: InfoSource
  #url: URL | undefined
  readonly isBatchCall: boolean
  readonly accept: TRPCRequestInfo['accept']
  readonly calls: TRPCRequestInfo['calls']
  readonly type: TRPCProcedureType
  readonly connectionParams: TRPCRequestInfo['connectionParams']

  constructor(request: InfoSource) {
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

function urlOf({ raw }: FastifyRequest): URL {
  const isSecure =
    raw.headers[':scheme'] === 'https' ||
    ('encrypted' in raw.socket && (raw.socket as { encrypted?: boolean }).encrypted)
  const host = raw.headers.host ?? raw.headers[':authority'] ?? 'localhost'
  return new URL(raw.url!, `${isSecure ? 'https:' : 'http:'}//${String(host)}`)
}
