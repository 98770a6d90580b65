// The calls of a request: their context, results and errors.

import {
  type AnyTRPCRouter,
  getErrorShape,
  getTRPCErrorFromUnknown,
  type TRPCError,
  type TRPCProcedureType,
} from '@trpc/server'
import type { TrpcDefaults } from './trpc-defaults.ts'
import { isThenable } from '../runtime/sync-chain.ts'
import type { RouterConfig } from '../procedure/trpc-internals.ts'
import type { OpenStreams } from './open-streams.ts'
import type { TrpcHandlerOptions } from '../options/types.ts'
import type { TrpcRequest } from '../request/trpc-request.ts'

/** Options that are the same for all requests. */
export interface RespondOptions extends TrpcDefaults {
  readonly trpcOptions: TrpcHandlerOptions<AnyTRPCRouter>
  readonly config: RouterConfig
  /** Subscriptions to end when the app closes. */
  readonly openStreams: OpenStreams | undefined
}

export type CallResult = { readonly data: unknown } | { readonly error: TRPCError }
export type CallResponse = { result: { data: unknown } } | { error: object }

/** Sets the context of a request. Returns the error of `createContext`, which then is the result of each call. */
export function createContext(
  request: TrpcRequest,
  { trpcOptions }: RespondOptions,
): { error: TRPCError } | undefined | Promise<{ error: TRPCError } | undefined> {
  if (!trpcOptions.createContext) return undefined
  const failed = (cause: unknown): { error: TRPCError } => ({ error: getTRPCErrorFromUnknown(cause) })
  const created = (ctx: unknown): undefined => {
    request.ctx = ctx
  }
  try {
    const { req, reply, info } = request
    const { path } = req.params as { path: string }
    const ctx: unknown = trpcOptions.createContext({ ...trpcOptions, req, res: reply, path, info } as never)
    return isThenable(ctx) ? Promise.resolve(ctx).then(created, failed) : created(ctx)
  } catch (cause) {
    return failed(cause)
  }
}

/** Calls a procedure. `schedule` decides when `onError` is called. */
export function callProcedure(
  request: TrpcRequest,
  index: number,
  contextError: { error: TRPCError } | undefined,
  options: RespondOptions,
  schedule: (report: () => void) => void = (report) => report(),
): CallResult | Promise<CallResult> {
  const call = request.calls[index]!
  const failed = (cause: unknown): CallResult => {
    const error = getTRPCErrorFromUnknown(cause)
    const input = call.readResult()
    schedule(() => {
      try {
        reportError(request, options, error, { path: call.path, input, type: request.type })
      } catch (onErrorThrew) {
        if (!request.isBatch) dropContentType(request, options)
        throw onErrorThrew
      }
    })
    return { error }
  }
  try {
    if (contextError) throw contextError.error
    const data = call.target.call(call, request.ctx)
    return isThenable(data) ? Promise.resolve(data).then((value) => ({ data: value }), failed) : { data }
  } catch (cause) {
    try {
      return failed(cause)
    } catch (onErrorThrew) {
      // The other calls of a batch still run.
      return Promise.reject(onErrorThrew)
    }
  }
}

/** tRPC sets the content type of a single response after its call has ended, which includes `onError`. */
function dropContentType(request: TrpcRequest, { headers }: RespondOptions): void {
  request.headers = new Headers(headers)
  request.headers.delete('content-type')
}

export function callResponse(
  request: TrpcRequest,
  index: number,
  result: CallResult,
  options: RespondOptions,
): CallResponse {
  if ('data' in result) return { result: { data: result.data } }
  return { error: callErrorShape(request, index, result.error, options) }
}

/** Returns the error of a call as it is sent. */
export function callErrorShape(request: TrpcRequest, index: number, error: TRPCError, options: RespondOptions): object {
  const call = request.calls[index]!
  return errorShape(request, options, error, call.path, call.readResult())
}

/** Returns an error as it is sent. */
export function errorShape(
  { ctx, type }: TrpcRequest,
  { config }: RespondOptions,
  error: TRPCError,
  path: string | undefined,
  input: unknown,
): object {
  return getErrorShape({ config, ctx: ctx as object, error, input, path, type }) as object
}

export function reportError(
  { req, ctx }: TrpcRequest,
  { trpcOptions }: RespondOptions,
  error: TRPCError,
  call: { path: string | undefined; input: unknown; type: TRPCProcedureType },
): void {
  const { path, input, type } = call
  trpcOptions.onError?.({ error, path, input, ctx: ctx as object, type, req })
}
