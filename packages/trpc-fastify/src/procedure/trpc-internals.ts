// Internals of tRPC: the parts of a procedure and a router, and how a validator is called. wrap-router.ts and
// options/schema.ts read the `_def` of a router, too. `canCompile()` checks a procedure and a validator once. If they
// changed, tRPC's own code calls the procedures.

import {
  type AnyTRPCProcedure,
  type AnyTRPCRootTypes,
  type AnyTRPCRouter,
  initTRPC,
  type TRPCProcedureType,
  type TRPCRootConfig,
} from '@trpc/server'
import * as core from '@trpc/server/unstable-core-do-not-import'

/** Calls a validator: returns the validated value, or throws. */
export type Parse = (value: unknown) => unknown

/** Result of a step, as middlewares see it. */
export type StepResult =
  | { readonly marker: unknown; readonly ok: true; readonly data: unknown; readonly ctx: unknown }
  | { readonly marker: unknown; readonly ok: false; readonly error: Error }

/** A middleware of the user or of tRPC. */
type Middleware = (options: object) => PromiseLike<StepResult | undefined>

/** One step on the way through a procedure. */
export type Step =
  | { readonly kind: 'input'; readonly parse: Parse }
  | { readonly kind: 'output'; readonly parse: Parse }
  | { readonly kind: 'middleware'; readonly call: Middleware }
  | { readonly kind: 'resolver'; readonly resolve: (options: object) => unknown }

/** Properties of a procedure. */
export interface ProcedureDefinition {
  readonly type: TRPCProcedureType
  readonly meta: unknown
}

/** Options of `initTRPC.create()`. */
export type RouterConfig = TRPCRootConfig<AnyTRPCRootTypes>

/** Properties of a router. */
export interface RouterInternals {
  readonly config: RouterConfig
  /** Finds a procedure that is loaded. The first call of a lazy router loads its procedures. */
  readonly find: (path: string) => AnyTRPCProcedure | undefined
  /** Paths of the procedures that are loaded. */
  readonly paths: readonly string[]
  /** Paths of the routers that are not loaded yet. */
  readonly lazyPaths: readonly string[]
}

interface Definition extends ProcedureDefinition {
  readonly inputs: readonly unknown[]
  readonly output?: unknown
  readonly middlewares: readonly (Middleware & { readonly _type?: string })[]
  readonly resolver: (options: object) => unknown
  readonly experimental_caller?: boolean
}

const { getParseFn, middlewareMarker: marker } = core as {
  getParseFn?: (parser: unknown) => Parse
  middlewareMarker?: unknown
}

/** Marks a result, so that tRPC's own middlewares recognize it. */
export const resultMarker: unknown = marker ?? 'middlewareMarker'

export function definitionOf(procedure: AnyTRPCProcedure): ProcedureDefinition {
  return (procedure as unknown as { _def: ProcedureDefinition })._def
}

export function internalsOf(router: AnyTRPCRouter): RouterInternals {
  const {
    procedures,
    lazy = {},
    _config: config,
  } = router._def as {
    procedures: Record<string, AnyTRPCProcedure>
    lazy?: object
    _config: RouterConfig
  }
  return {
    config,
    find: (path) => procedures[path],
    paths: Object.keys(procedures),
    lazyPaths: Object.keys(lazy),
  }
}

/** The validators of a procedure's input. */
export function inputsOf(procedure: AnyTRPCProcedure): readonly unknown[] {
  return (definitionOf(procedure) as Definition).inputs
}

/** The validator of a procedure's output. */
export function outputOf(procedure: AnyTRPCProcedure): unknown {
  return (definitionOf(procedure) as Definition).output
}

/** Returns the steps of a procedure in order, or undefined if it has an unknown form. */
export function stepsOf(procedure: AnyTRPCProcedure): Step[] | undefined {
  const { inputs, output, middlewares, resolver, experimental_caller } = definitionOf(procedure) as Definition
  if (!canCompile() || !getParseFn || experimental_caller || typeof resolver !== 'function') return undefined
  const parsers = [...inputs]
  const steps = middlewares.slice(0, -1).map((call): Step => {
    if (call._type === 'input') return { kind: 'input', parse: getParseFn(parsers.shift()) }
    if (call._type === 'output') return { kind: 'output', parse: getParseFn(output) }
    return { kind: 'middleware', call }
  })
  if (parsers.length > 0) return undefined
  return [...steps, { kind: 'resolver', resolve: resolver }]
}

let isKnownForm: boolean | undefined

/** Whether procedures of the installed `@trpc/server` can be called step by step. The first call checks a probe. */
export function canCompile(): boolean {
  isKnownForm ??= checkProbe()
  return isKnownForm
}

/** Checks a procedure with one step of each kind. */
function checkProbe(): boolean {
  try {
    const t = initTRPC.create()
    const parse = (value: unknown): unknown => value
    const use: Parameters<ReturnType<typeof t.procedure.input<typeof parse>>['use']>[0] = ({ next }) => next()
    const resolver = (): string => 'ok'
    const probe = t.procedure.input(parse).use(use).output(parse).query(resolver)
    const { type, inputs, output, middlewares, resolver: found } = probe._def as unknown as Definition
    return (
      type === 'query' &&
      inputs.length === 1 &&
      inputs[0] === parse &&
      output === parse &&
      found === resolver &&
      middlewares.length === 4 &&
      middlewares[0]?._type === 'input' &&
      middlewares[1] === (use as unknown) &&
      middlewares[2]?._type === 'output' &&
      middlewares[3]?._type === undefined &&
      getParseFn?.(parse)('value') === 'value'
    )
  } catch {
    return false
  }
}
