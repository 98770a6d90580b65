// Wraps the procedures of a router, which uses its internal `_def`.

import type { AnyTRPCRouter, TRPCProcedureType } from '@trpc/server'

/** Runs around each call of a procedure, with tRPC's own options for it. */
export type CallWrapper = (
  options: { path: string; type: TRPCProcedureType; batchIndex: number; signal: AbortSignal },
  call: (signal?: AbortSignal) => unknown,
) => unknown

/** Returns the same router for tRPC's own handlers, with a wrapper around each call of a procedure. */
export function wrapRouter<TRouter extends AnyTRPCRouter>(router: TRouter, wrap: CallWrapper): TRouter {
  type Invoke = (options: Parameters<CallWrapper>[0]) => unknown
  const { _def: definition } = router
  const wrapped = (procedure: Invoke): Invoke =>
    Object.assign(
      async (options: Parameters<Invoke>[0]) =>
        wrap(options, (signal) => procedure(signal ? { ...options, signal } : options)),
      procedure,
    )
  // Lazy routers add their procedures when they load.
  const procedures = new Proxy(definition.procedures, {
    get(target, path, receiver) {
      const found = Reflect.get(target, path, receiver) as Invoke | undefined
      return typeof found === 'function' ? wrapped(found) : found
    },
  })
  return { ...router, _def: { ...definition, procedures } }
}
