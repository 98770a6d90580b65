// The argument of middlewares and resolvers.

import { getTRPCErrorFromUnknown, type TRPCProcedureType } from '@trpc/server'
import { retainClass } from '../runtime/hidden-classes.ts'
import { resultMarker, type StepResult } from './trpc-internals.ts'

export type GetRawInput = () => Promise<unknown>

/** The part of a procedure call that the request determines. */
export interface Call {
  readonly path: string
  readonly batchIndex: number
  /** Returns the input as the client sent it, after the transformer. Synchronous where possible; throws a TRPCError. */
  readInput(): unknown
  /** The same, for middlewares. */
  readonly getRawInput: GetRawInput
  /** Aborts when the client goes away. */
  readonly signal: AbortSignal
}

/**
 * Options of middlewares and resolvers. Few read `signal`, and an AbortController costs 2 µs, so it is created on
 * demand. `signal` is an own property, so that copies have it. All objects share its getter. That is faster than a getter
 * in an object literal. See docs/measurements.md#abort-controller
 */
export class ProcedureOptions {
  static readonly #signal: PropertyDescriptor & ThisType<ProcedureOptions> = {
    get() {
      return this.#call.signal
    },
    enumerable: true,
    configurable: true,
  }
  readonly #call: Call
  readonly path: string
  readonly getRawInput: GetRawInput
  readonly ctx: unknown
  readonly type: TRPCProcedureType
  readonly batchIndex: number
  readonly meta: unknown
  readonly input: unknown
  readonly next: (options?: object) => Promise<unknown>

  constructor(
    call: Call,
    ctx: unknown,
    type: TRPCProcedureType,
    meta: unknown,
    input: unknown,
    getRawInput: GetRawInput,
    next: (options?: object) => Promise<unknown>,
  ) {
    this.#call = call
    this.path = call.path
    this.getRawInput = getRawInput
    this.ctx = ctx
    this.type = type
    Object.defineProperty(this, 'signal', ProcedureOptions.#signal)
    this.batchIndex = call.batchIndex
    this.meta = meta
    this.input = input
    this.next = next
  }
}

/** The resolver is the last step. tRPC calls `undefined` here, and reports this error. */
export async function nextOfResolver(): Promise<StepResult> {
  const error = getTRPCErrorFromUnknown(new TypeError('middleware is not a function'))
  return { ok: false, error, marker: resultMarker }
}

const noInput = async (): Promise<undefined> => undefined
const noCall: Call = {
  path: '',
  batchIndex: 0,
  readInput: () => undefined,
  getRawInput: noInput,
  signal: new AbortController().signal,
}
retainClass(new ProcedureOptions(noCall, undefined, 'query', undefined, undefined, noInput, nextOfResolver))
