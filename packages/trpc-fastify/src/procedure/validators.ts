// Validates inputs and outputs with tRPC's errors.

import { TRPCError } from '@trpc/server'
import { chain, isThenable } from '../runtime/sync-chain.ts'
import { isObject } from '../runtime/type-guards.ts'
import type { Parse } from './trpc-internals.ts'

/** Validates an input. Objects are merged with the result of the validator before. */
export function validateInput(parse: Parse, raw: unknown, before: unknown): unknown {
  return chain(parseOr(badRequest, parse, raw), (parsed) =>
    isObject(before) && isObject(parsed) ? { ...before, ...parsed } : parsed,
  )
}

export function validateOutput(parse: Parse, data: unknown): unknown {
  return parseOr(badOutput, parse, data)
}

function badRequest(cause: unknown): never {
  throw new TRPCError({ code: 'BAD_REQUEST', cause })
}

function badOutput(cause: unknown): never {
  throw new TRPCError({ message: 'Output validation failed', code: 'INTERNAL_SERVER_ERROR', cause })
}

function parseOr(fail: (cause: unknown) => never, parse: Parse, value: unknown): unknown {
  try {
    const parsed = parse(value)
    return isThenable(parsed) ? Promise.resolve(parsed).catch(fail) : parsed
  } catch (cause) {
    return fail(cause)
  }
}
