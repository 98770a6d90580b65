// Finds procedures by path, and prepares each one at its first call.

import type { AnyTRPCProcedure, TRPCProcedureType } from '@trpc/server'
import { type CallMode, compile } from './compile.ts'
import type { CallScope } from './interceptors/call-scope.ts'
import type { Interceptor } from './interceptors/create-interceptor.ts'
import type { Call } from './resolver-options.ts'
import type { Serializer, Serializers } from './serializer.ts'
import { definitionOf, type RouterInternals } from './trpc-internals.ts'

/** A call of the fast path. */
export interface RequestCall extends Call {
  readonly type: TRPCProcedureType
  /** State that all calls of a request share. */
  readonly scope: CallScope
}

/** A procedure of a router, and how to call it. */
export interface RegisteredProcedure {
  readonly procedure: AnyTRPCProcedure
  readonly type: TRPCProcedureType
  readonly mode: CallMode
  readonly call: (call: RequestCall, ctx: unknown) => unknown
  /** Writes its results as JSON, instead of `JSON.stringify`. */
  readonly serialize: Serializer | undefined
}

export interface RegistryOptions {
  readonly mode: CallMode
  readonly intercept: Interceptor | undefined
  readonly serializers: Serializers
}

/** Returns a function that finds loaded procedures. */
export function createRegistry(
  { find }: RouterInternals,
  options: RegistryOptions,
): (path: string) => RegisteredProcedure | undefined {
  const registered = new Map<string, RegisteredProcedure>()
  return (path) => {
    const found = registered.get(path)
    if (found) return found
    const procedure = find(path)
    if (!procedure) return undefined
    const prepared = prepare(path, procedure, options)
    registered.set(path, prepared)
    return prepared
  }
}

function prepare(
  path: string,
  procedure: AnyTRPCProcedure,
  { mode: wanted, intercept, serializers }: RegistryOptions,
): RegisteredProcedure {
  const { type } = definitionOf(procedure)
  const { mode, call } = compile(procedure, wanted)
  const common = { procedure, type, mode, serialize: serializers.at(path) }
  if (!intercept) return { ...common, call }
  return {
    ...common,
    call: (outer, ctx) =>
      intercept(outer.scope, outer, (signal) => call(signal ? withSignal(outer, signal) : outer, ctx)),
  }
}

function withSignal(call: RequestCall, signal: AbortSignal): Call {
  const { path, batchIndex, getRawInput } = call
  return { path, batchIndex, getRawInput, signal, readInput: () => call.readInput() }
}
