// Calls a procedure. tRPC runs one `async` function per step, each with its own copy of the options. Here a synchronous
// result is passed on synchronously. Procedures and middlewares of users see no difference in options, results of
// `next()` and errors.

import { type AnyTRPCProcedure, getTRPCErrorFromUnknown, TRPCError, type TRPCProcedureType } from '@trpc/server'
import { definitionOf, type Parse, resultMarker, type Step, type StepResult, stepsOf } from './trpc-internals.ts'
import { chain, isThenable } from '../runtime/sync-chain.ts'
import { keepClass } from '../runtime/hidden-classes.ts'
import { isObject } from '../runtime/value-kinds.ts'

/** How a procedure is called: step by step here, or by tRPC's own code. */
export type Engine = 'compiled' | 'direct'

/** The part of a procedure call that the request determines. */
export interface Call {
  readonly path: string
  readonly batchIndex: number
  /** Returns the input as the client sent it, after the transformer. Synchronous where possible; throws a TRPCError. */
  readInput(): unknown
  /** The same, for middlewares. */
  readonly getRawInput: () => Promise<unknown>
  /** Aborts when the client goes away. */
  readonly signal: AbortSignal
}

/** Calls a procedure: returns the data or a promise of it, throws or rejects. */
export type CallProcedure = (call: Call, ctx: unknown) => unknown

/** Finds how to call a procedure. */
export function compile(procedure: AnyTRPCProcedure, engine: Engine): { engine: Engine; call: CallProcedure } {
  const steps = engine === 'compiled' ? stepsOf(procedure) : undefined
  if (!steps) return { engine: 'direct', call: callDirectly(procedure) }
  const { type, meta } = definitionOf(procedure)
  return { engine: 'compiled', call: callSteps(steps, type, meta) }
}

function callDirectly(procedure: AnyTRPCProcedure): CallProcedure {
  const { type } = definitionOf(procedure)
  const invoke = procedure as unknown as (options: object) => Promise<unknown>
  return ({ path, batchIndex, getRawInput, signal }, ctx) =>
    invoke({ path, getRawInput, ctx, type, signal, batchIndex })
}

function callSteps(steps: readonly Step[], type: TRPCProcedureType, meta: unknown): CallProcedure {
  const simple = steps.every(({ kind }) => kind !== 'middleware')
  return simple ? callWithoutMiddlewares(steps, type, meta) : callWithMiddlewares(steps, type, meta)
}

/** Validators and a resolver: no code in between sees a result object, so none is made. */
function callWithoutMiddlewares(steps: readonly Step[], type: TRPCProcedureType, meta: unknown): CallProcedure {
  const inputs = steps.filter((step) => step.kind === 'input').map(({ parse }) => parse)
  const outputs = steps.filter((step) => step.kind === 'output').map(({ parse }) => parse)
  const { resolve } = steps.find((step) => step.kind === 'resolver')!

  const resolved = (call: Call, ctx: unknown, input: unknown): unknown => {
    const data = resolve(new ProcedureOptions(call, ctx, type, meta, input, call.getRawInput, nextOfResolver))
    return outputs.reduceRight((found, parse) => chain(found, (value) => parseOutput(parse, value)), data)
  }
  if (inputs.length === 0) return (call, ctx) => resolved(call, ctx, undefined)
  return (call, ctx) =>
    chain(
      inputs.reduce<unknown>(
        (found, parse) => chain(found, (before) => chain(call.readInput(), (raw) => parseInput(parse, raw, before))),
        undefined,
      ),
      (input) => resolved(call, ctx, input),
    )
}

function callWithMiddlewares(steps: readonly Step[], type: TRPCProcedureType, meta: unknown): CallProcedure {
  type GetRawInput = () => Promise<unknown>
  type Result = StepResult | undefined

  const run = (
    index: number,
    call: Call,
    ctx: unknown,
    input: unknown,
    getRawInput: GetRawInput,
  ): Result | Promise<Result> => {
    try {
      const result = take(steps[index]!, index, call, ctx, input, getRawInput)
      return isThenable(result) ? Promise.resolve(result).catch(failed) : result
    } catch (cause) {
      return failed(cause)
    }
  }

  const take = (
    step: Step,
    index: number,
    call: Call,
    ctx: unknown,
    input: unknown,
    getRawInput: GetRawInput,
  ): Result | PromiseLike<Result> => {
    const after = (value: unknown): Result | Promise<Result> => run(index + 1, call, ctx, value, getRawInput)
    switch (step.kind) {
      case 'input': {
        const raw = getRawInput === call.getRawInput ? call.readInput() : getRawInput()
        return chain(
          chain(raw, (value) => parseInput(step.parse, value, input)),
          after,
        )
      }
      case 'output':
        return chain<Result, Result>(after(input), (result) => {
          // As in tRPC, a middleware that returns nothing causes a TypeError with the same message.
          if (!result!.ok) return result
          const found = result as Extract<StepResult, { ok: true }>
          return chain<unknown, Result>(parseOutput(step.parse, found.data), (data) => ({ ...found, data }))
        })
      case 'middleware': {
        const next = (options?: { ctx?: object; input?: unknown; getRawInput?: GetRawInput }): Promise<Result> =>
          Promise.resolve(
            run(
              index + 1,
              call,
              options?.ctx ? { ...(ctx as object), ...options.ctx } : ctx,
              options && 'input' in options ? options.input : input,
              options?.getRawInput ?? getRawInput,
            ),
          )
        // Called as a plain function, so that `this` is undefined in the user's function.
        const { call: middleware } = step
        return middleware(new ProcedureOptions(call, ctx, type, meta, input, getRawInput, next))
      }
    }
    const { resolve } = step
    const data = resolve(new ProcedureOptions(call, ctx, type, meta, input, getRawInput, nextOfResolver))
    return chain(data, (value) => ({ marker: resultMarker, ok: true, data: value, ctx }))
  }

  return (call, ctx) =>
    chain(run(0, call, ctx, undefined, call.getRawInput), (result) => {
      if (!result) {
        throw new TRPCError({
          code: 'INTERNAL_SERVER_ERROR',
          message: 'No result from middlewares - did you forget to `return next()`?',
        })
      }
      if (!result.ok) throw result.error
      return result.data
    })
}

/** The resolver is the last step. tRPC calls `undefined` here, and reports this error. */
async function nextOfResolver(): Promise<StepResult> {
  return failed(new TypeError('middleware is not a function'))
}

function failed(cause: unknown): StepResult {
  return { ok: false, error: getTRPCErrorFromUnknown(cause), marker: resultMarker }
}

/**
 * Options of middlewares and resolvers. Few read `signal`, and an AbortController costs 2 µs, so it is created on
 * demand. `signal` is an own property, to survive copies, with one getter for all objects, which is faster than a
 * getter in an object literal. See docs/measurements.md#abort-controller
 */
class ProcedureOptions {
  static readonly #signal: PropertyDescriptor & ThisType<ProcedureOptions> = {
    get() {
      return this.#call.signal
    },
    enumerable: true,
    configurable: true,
  }
  readonly #call: Call
  readonly path: string
  readonly getRawInput: () => Promise<unknown>
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
    getRawInput: () => Promise<unknown>,
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

const noInput = async (): Promise<undefined> => undefined
const noCall: Call = {
  path: '',
  batchIndex: 0,
  readInput: () => undefined,
  getRawInput: noInput,
  signal: new AbortController().signal,
}
keepClass(new ProcedureOptions(noCall, undefined, 'query', undefined, undefined, noInput, nextOfResolver))

function parseInput(parse: Parse, raw: unknown, before: unknown): unknown {
  const wrong = (cause: unknown): never => {
    throw new TRPCError({ code: 'BAD_REQUEST', cause })
  }
  return chain(guarded(parse, raw, wrong), (parsed) =>
    isObject(before) && isObject(parsed) ? { ...before, ...parsed } : parsed,
  )
}

function parseOutput(parse: Parse, data: unknown): unknown {
  return guarded(parse, data, (cause) => {
    throw new TRPCError({ message: 'Output validation failed', code: 'INTERNAL_SERVER_ERROR', cause })
  })
}

function guarded(parse: Parse, value: unknown, wrong: (cause: unknown) => never): unknown {
  try {
    const parsed = parse(value)
    return isThenable(parsed) ? Promise.resolve(parsed).catch(wrong) : parsed
  } catch (cause) {
    return wrong(cause)
  }
}
