import type { Aborted, CallFailure } from '../failure-reasons.ts'
import type { CallEnd } from '../options/observer.ts'

/** The measures of a call. */
export type CallMeasures = Pick<CallEnd, 'duration' | 'attempts' | 'hedged' | 'origin' | 'status'>

/** Measures of a call that was rejected before its first attempt. */
export const NEVER_SENT: CallMeasures = {
  ...{ duration: 0, attempts: 1, hedged: false },
  ...{ origin: undefined, status: undefined },
}

/** The record that observers get when a call ends. */
export function callEnd(
  { duration, attempts, hedged, origin, status }: CallMeasures,
  failure: CallFailure | Aborted | undefined,
): CallEnd {
  return {
    duration,
    attempts,
    hedged,
    origin,
    status,
    reason: failure?.reason,
    message: failure?.message,
    cause: failure && 'cause' in failure ? failure.cause : undefined,
  }
}
