// Delays the end of a response until revalidations of its request are done. Next does not wait for them.

import { AsyncLocalStorage } from 'node:async_hooks'
import type { ServerResponse } from 'node:http'
import type { NextHandler } from '../next/handler-types.ts'

/** A response, and what its end waits for. */
interface DelayedResponse {
  readonly response: ServerResponse
  readonly pending: Promise<void>[]
}

/** The method that is wrapped. */
interface Wrapped {
  readonly end: (this: ServerResponse, ...rest: unknown[]) => ServerResponse
}

const current = new AsyncLocalStorage<DelayedResponse>()

/** Serves a request whose response may be delayed by {@link endResponseAfter}. */
export function withDelayedEnd(next: NextHandler): NextHandler {
  return (request, response) => current.run({ response, pending: [] }, next, request, response)
}

/**
 * Delays the end of the current response until a promise resolves. If it rejects, the client gets a 500 or an incomplete
 * response.
 */
export function endResponseAfter(promise: Promise<void>): void {
  const delayed = current.getStore()
  if (delayed === undefined) return
  const { response, pending } = delayed
  pending.push(promise)
  // The error is handled at the end of the response.
  promise.catch(() => {})
  if (pending.length > 1) return
  const { end } = response as unknown as Wrapped
  const endWhenDone = async (rest: readonly unknown[]): Promise<void> => {
    try {
      await Promise.all(pending)
      end.apply(response, [...rest])
    } catch {
      if (response.headersSent) response.destroy()
      else {
        response.statusCode = 500
        end.call(response, 'Internal Server Error')
      }
    }
  }
  Object.assign(response, {
    end(...rest: unknown[]): ServerResponse {
      void endWhenDone(rest)
      return response
    },
  })
}
