import { TRPCError } from '@trpc/server'
import type { Invoke } from './call-scope.ts'

/** Calls a procedure. After `timeout` ms the call fails with `TIMEOUT`, and its signal aborts. */
export async function callWithTimeout(timeout: number, outer: AbortSignal, invoke: Invoke): Promise<unknown> {
  const expiry = new AbortController()
  let timer: NodeJS.Timeout | undefined
  const expired = new Promise<never>((_, reject) => {
    timer = setTimeout(() => {
      const error = new TRPCError({ code: 'TIMEOUT', message: `No result within ${timeout} ms` })
      expiry.abort(error)
      reject(error)
    }, timeout)
  })
  try {
    return await Promise.race([invoke(AbortSignal.any([outer, expiry.signal])), expired])
  } finally {
    clearTimeout(timer)
  }
}
