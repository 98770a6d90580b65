import { errorCodes } from '../errors.ts'
import type { LoadResult } from '../load/generator.ts'
import type { ResolvedCase } from '../options/resolved.ts'
import { counted } from '../report/format.ts'
import type { RunningSubject } from '../subject/running-subject.ts'

/** Milliseconds to wait for the supervisor's report of a dead subject. */
const REPORT_TIMEOUT = 1000
/** A longer round alone has as short turns. */
const TOO_SHORT = 'increase "duration" and "measurement.turn" to more than a response takes'

/** Returns how many requests of a round failed. Throws if they and those of its lead exceed `maxErrorRate`. */
export function assertFewFailures(
  run: RunningSubject,
  testCase: ResolvedCase,
  { responses, before, failures }: LoadResult,
): number {
  const { errors, timeouts, hanging, unexpectedStatus } = failures
  const failed = errors + timeouts + hanging + unexpectedStatus
  const sent = before.responses + responses + failed
  const maxRate = maxErrorRateOf(testCase, run.subject.name)
  if (responses > 0 && failed <= maxRate * sent) return failed - before.failures
  if (failed === 0) {
    throw new errorCodes.SPEED_BOUNDS_FAILED_REQUESTS(
      `${run.subject.name} responded to no request of case '${testCase.name}' in its round: ${TOO_SHORT}.`,
    )
  }
  throw new errorCodes.SPEED_BOUNDS_FAILED_REQUESTS(
    `${run.subject.name} failed ${failed} of ${sent} requests of case '${testCase.name}' under load (maxErrorRate: ${maxRate}): ` +
      `${counted(errors, 'connection error')}, ${counted(timeouts, 'timeout')}, ${counted(hanging, 'connection')} without a response, ` +
      `${counted(unexpectedStatus, 'response')} with another status.` +
      (hanging > 0 ? ` If it is slow, ${TOO_SHORT}.` : ''),
  )
}

function maxErrorRateOf({ maxErrorRate }: ResolvedCase, subject: string): number {
  if (typeof maxErrorRate === 'number') return maxErrorRate
  return Object.hasOwn(maxErrorRate, subject) ? maxErrorRate[subject]! : 0
}

/** The error of a process that is gone. The supervisor's report has its stderr, but comes later. */
export async function deathOf(run: RunningSubject): Promise<Error> {
  const gone = new errorCodes.SPEED_BOUNDS_SUBJECT_DIED(`${run.subject.name} (${run.subject.label}) is gone.`)
  const late = new Promise<Error>((resolve) => setTimeout(resolve, REPORT_TIMEOUT, gone))
  return Promise.race([late, run.untilDeath.catch((error: Error) => error)])
}
