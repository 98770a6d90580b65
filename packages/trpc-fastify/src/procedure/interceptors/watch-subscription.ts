import { getTRPCErrorFromUnknown, type TRPCError } from '@trpc/server'
import { isObservable, observableToAsyncIterable } from '@trpc/server/observable'
import { isAsyncIterable } from '../../runtime/type-guards.ts'
import type { CallScope } from './request-scope.ts'

type Ended = (error?: TRPCError) => void
type Result = IteratorResult<unknown>

/** Returns the events of a subscription, and calls `ended` once after the last one. */
export function watchSubscription(data: unknown, signal: AbortSignal, scope: CallScope, ended: Ended): unknown {
  const events = isObservable(data) ? observableToAsyncIterable(data, signal) : data
  if (!isAsyncIterable(events)) {
    ended()
    return events
  }
  return {
    [Symbol.asyncIterator](): AsyncIterator<unknown> {
      const iterator = events[Symbol.asyncIterator]()
      const onEnd = scope.onSubscription?.()
      return watchIterator(iterator, (error) => {
        onEnd?.()
        ended(error)
      })
    },
  }
}

function watchIterator(iterator: AsyncIterator<unknown>, ended: Ended): AsyncIterator<unknown> {
  let isOver = false
  const end = (error?: TRPCError): void => {
    if (isOver) return
    isOver = true
    ended(error)
  }
  const step = async (next: () => Promise<Result> | undefined): Promise<Result> => {
    try {
      const result = (await next()) ?? { done: true, value: undefined }
      if (result.done) end()
      return result
    } catch (cause) {
      end(getTRPCErrorFromUnknown(cause))
      throw cause
    }
  }
  return {
    next: () => step(() => iterator.next()),
    return: (value: unknown) => step(() => iterator.return?.(value)),
  }
}
