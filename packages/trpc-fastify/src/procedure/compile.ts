// Compiles a procedure into a function. tRPC runs one `async` function per step, each with its own copy of the options.
// Here a synchronous result is passed on synchronously. Procedures and middlewares see the same options, results of
// `next()` and errors.

import type { AnyTRPCProcedure, TRPCProcedureType } from '@trpc/server'
import { chain } from '../runtime/sync-chain.ts'
import { MiddlewareSteps } from './middleware-steps.ts'
import { type Call, nextOfResolver, ProcedureOptions } from './resolver-options.ts'
import { definitionOf, type Step, stepsOf } from './trpc-internals.ts'
import { validateInput, validateOutput } from './validators.ts'

/** How a procedure is called: step by step here, or by tRPC's own code. */
export type CallMode = 'compiled' | 'uncompiled'

/** Calls a procedure: returns the data or a promise of it, throws or rejects. */
export type CallProcedure = (call: Call, ctx: unknown) => unknown

/** Returns how to call a procedure. A procedure of an unknown form stays uncompiled. */
export function compile(procedure: AnyTRPCProcedure, wanted: CallMode): { mode: CallMode; call: CallProcedure } {
  const steps = wanted === 'compiled' ? stepsOf(procedure) : undefined
  if (!steps) return { mode: 'uncompiled', call: callByTrpc(procedure) }
  const { type, meta } = definitionOf(procedure)
  return { mode: 'compiled', call: callSteps(steps, type, meta) }
}

function callByTrpc(procedure: AnyTRPCProcedure): CallProcedure {
  const { type } = definitionOf(procedure)
  const invoke = procedure as unknown as (options: object) => Promise<unknown>
  return ({ path, batchIndex, getRawInput, signal }, ctx) =>
    invoke({ path, getRawInput, ctx, type, signal, batchIndex })
}

function callSteps(steps: readonly Step[], type: TRPCProcedureType, meta: unknown): CallProcedure {
  if (steps.every(({ kind }) => kind !== 'middleware')) return callWithoutMiddlewares(steps, type, meta)
  const compiled = new MiddlewareSteps(steps, type, meta)
  return (call, ctx) => compiled.call(call, ctx)
}

/** Validators and a resolver. No code in between sees a result object, so none is created. */
function callWithoutMiddlewares(steps: readonly Step[], type: TRPCProcedureType, meta: unknown): CallProcedure {
  const inputs = steps.filter((step) => step.kind === 'input').map(({ parse }) => parse)
  const outputs = steps.filter((step) => step.kind === 'output').map(({ parse }) => parse)
  const { resolve } = steps.find((step) => step.kind === 'resolver')!

  const resolved = (call: Call, ctx: unknown, input: unknown): unknown => {
    const data = resolve(new ProcedureOptions(call, ctx, type, meta, input, call.getRawInput, nextOfResolver))
    return outputs.reduceRight((found, parse) => chain(found, (value) => validateOutput(parse, value)), data)
  }
  if (inputs.length === 0) return (call, ctx) => resolved(call, ctx, undefined)
  return (call, ctx) =>
    chain(
      inputs.reduce<unknown>(
        (found, parse) => chain(found, (before) => chain(call.readInput(), (raw) => validateInput(parse, raw, before))),
        undefined,
      ),
      (input) => resolved(call, ctx, input),
    )
}
