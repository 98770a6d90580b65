import { getTRPCErrorFromUnknown } from '@trpc/server'
import { isObservable, observableToAsyncIterable } from '@trpc/server/observable'
import { isAsyncIterable } from '../../runtime/type-guards.ts'
import type { ReportedCall } from './call-reporter.ts'
import type { CallScope, InterceptedCall } from './call-scope.ts'

type Result = IteratorResult<unknown>

/** Returns the events of a subscription or the values of a streamed result, and reports the end once after the last one. */
export function watchStream(
  data: unknown,
  { type, signal }: InterceptedCall,
  scope: CallScope,
  reported: ReportedCall,
): unknown {
  const events = isObservable(data) ? observableToAsyncIterable(data, signal) : data
  if (!isAsyncIterable(events)) {
    reported.ended()
    return events
  }
  const end = onceEnded(reported)
  // The client may leave before anything reads the result.
  if (type !== 'subscription') scope.onClose(() => end())
  return {
    [Symbol.asyncIterator](): AsyncIterator<unknown> {
      // The code of a generator runs in the context of whoever asks for its next value.
      const iterator = reported.run(() => events[Symbol.asyncIterator]())
      const onEnd = scope.onSubscription?.()
      return watchIterator(iterator, {
        run: reported.run,
        ended(error) {
          onEnd?.()
          end(error)
        },
      })
    },
  }
}

function onceEnded({ ended }: ReportedCall): ReportedCall['ended'] {
  let isOver = false
  return (error) => {
    if (isOver) return
    isOver = true
    ended(error)
  }
}

function watchIterator(iterator: AsyncIterator<unknown>, reported: ReportedCall): AsyncIterator<unknown> {
  const end = onceEnded(reported)
  const step = async (next: () => Promise<Result> | undefined): Promise<Result> => {
    try {
      const result = (await reported.run(next)) ?? { done: true, value: undefined }
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
