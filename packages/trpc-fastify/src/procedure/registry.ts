// The procedures of a router as the fast path calls them: found by path, made ready with their first call.

import type { AnyTRPCProcedure } from '@trpc/server'
import type { Around } from './interceptors/interceptor.ts'
import { compile, type Engine } from './compile.ts'
import { definitionOf, type RouterInternals } from './trpc-internals.ts'
import type { FastCall, FastProcedure } from '../request/trpc-request.ts'
import type { Serializers } from './serializer.ts'

/** How procedures are called. */
export interface FastProcedureOptions {
  readonly engine: Engine
  readonly around: Around | undefined
  readonly serializers: Serializers
}

/** Gives a function that finds procedures: those that are loaded. */
export function fastProcedures(
  { find }: RouterInternals,
  options: FastProcedureOptions,
): (path: string) => FastProcedure | undefined {
  const known = new Map<string, FastProcedure>()
  return (path) => {
    const found = known.get(path)
    if (found) return found
    const procedure = find(path)
    if (!procedure) return undefined
    const made = fastProcedure(path, procedure, options)
    known.set(path, made)
    return made
  }
}

function fastProcedure(
  path: string,
  procedure: AnyTRPCProcedure,
  { engine: wanted, around, serializers }: FastProcedureOptions,
): FastProcedure {
  const { type } = definitionOf(procedure)
  const { engine, call } = compile(procedure, wanted)
  const common = { procedure, type, engine, serialize: serializers.at(path) }
  if (!around) return { ...common, call }
  return {
    ...common,
    call: (outer, ctx) =>
      around(outer.request.scope, outer, (signal) => call(signal ? withSignal(outer, signal) : outer, ctx)),
  }
}

function withSignal(call: FastCall, signal: AbortSignal): Parameters<ReturnType<typeof compile>['call']>[0] {
  const { path, batchIndex, getRawInput } = call
  return { path, batchIndex, getRawInput, signal, readInput: () => call.readInput() }
}
