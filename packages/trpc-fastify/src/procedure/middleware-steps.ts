// The steps of a procedure with middlewares.

import { getTRPCErrorFromUnknown, TRPCError, type TRPCProcedureType } from '@trpc/server'
import { chain, isThenable } from '../runtime/sync-chain.ts'
import { type Call, type GetRawInput, nextOfResolver, ProcedureOptions } from './resolver-options.ts'
import { resultMarker, type Step, type StepResult } from './trpc-internals.ts'
import { validateInput, validateOutput } from './validators.ts'

type Result = StepResult | undefined
type StepOf<TKind extends Step['kind']> = Extract<Step, { kind: TKind }>

/** Options of `next()` in a middleware. */
interface NextOptions {
  readonly ctx?: object
  readonly input?: unknown
  readonly getRawInput?: GetRawInput
}

/** Each step calls the next one, which middlewares wrap. The last one is the resolver. */
export class MiddlewareSteps {
  readonly #steps: readonly Step[]
  readonly #type: TRPCProcedureType
  readonly #meta: unknown

  constructor(steps: readonly Step[], type: TRPCProcedureType, meta: unknown) {
    this.#steps = steps
    this.#type = type
    this.#meta = meta
  }

  call(call: Call, ctx: unknown): unknown {
    return chain(this.#run(0, call, ctx, undefined, call.getRawInput), dataOf)
  }

  #run(index: number, call: Call, ctx: unknown, input: unknown, getRawInput: GetRawInput): Result | Promise<Result> {
    try {
      const result = this.#take(index, call, ctx, input, getRawInput)
      return isThenable(result) ? Promise.resolve(result).catch(failed) : result
    } catch (cause) {
      return failed(cause)
    }
  }

  #take(
    index: number,
    call: Call,
    ctx: unknown,
    input: unknown,
    getRawInput: GetRawInput,
  ): Result | PromiseLike<Result> {
    const step = this.#steps[index]!
    switch (step.kind) {
      case 'input': {
        const raw = getRawInput === call.getRawInput ? call.readInput() : getRawInput()
        return chain(
          chain(raw, (value) => validateInput(step.parse, value, input)),
          (value) => this.#run(index + 1, call, ctx, value, getRawInput),
        )
      }
      case 'output':
        return chain(this.#run(index + 1, call, ctx, input, getRawInput), (result) => withValidOutput(step, result))
      case 'middleware':
        return this.#callMiddleware(step, index, call, ctx, input, getRawInput)
      case 'resolver':
        return this.#resolve(step, call, ctx, input, getRawInput)
      default:
        return step
    }
  }

  #resolve(
    { resolve }: StepOf<'resolver'>,
    call: Call,
    ctx: unknown,
    input: unknown,
    getRawInput: GetRawInput,
  ): Result | PromiseLike<Result> {
    // Called as a plain function, so that `this` is undefined in the user's function.
    const data = resolve(new ProcedureOptions(call, ctx, this.#type, this.#meta, input, getRawInput, nextOfResolver))
    return chain(data, (value) => ({ marker: resultMarker, ok: true, data: value, ctx }))
  }

  #callMiddleware(
    { call: middleware }: StepOf<'middleware'>,
    index: number,
    call: Call,
    ctx: unknown,
    input: unknown,
    getRawInput: GetRawInput,
  ): PromiseLike<Result> {
    const next = (options?: NextOptions): Promise<Result> =>
      Promise.resolve(
        this.#run(
          index + 1,
          call,
          options?.ctx ? { ...(ctx as object), ...options.ctx } : ctx,
          options && 'input' in options ? options.input : input,
          options?.getRawInput ?? getRawInput,
        ),
      )
    return middleware(new ProcedureOptions(call, ctx, this.#type, this.#meta, input, getRawInput, next))
  }
}

/** As in tRPC, a middleware that returns nothing causes a TypeError with the same message. */
function withValidOutput({ parse }: StepOf<'output'>, result: Result): Result | Promise<Result> {
  if (!result!.ok) return result
  const found = result as Extract<StepResult, { ok: true }>
  return chain<unknown, Result>(validateOutput(parse, found.data), (data) => ({ ...found, data }))
}

function dataOf(result: Result): unknown {
  if (!result) {
    throw new TRPCError({
      code: 'INTERNAL_SERVER_ERROR',
      message: 'No result from middlewares - did you forget to `return next()`?',
    })
  }
  if (!result.ok) throw result.error
  return result.data
}

function failed(cause: unknown): StepResult {
  return { ok: false, error: getTRPCErrorFromUnknown(cause), marker: resultMarker }
}
