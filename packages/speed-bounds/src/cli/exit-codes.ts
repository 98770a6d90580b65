import { CommanderError } from 'commander'
import { SpeedBoundsError, type SpeedBoundsErrorCode } from '../errors.ts'
import type { Verdict } from '../statistics/verdict.ts'
import { Interruption } from './interruption.ts'

export const EXIT = { holds: 0, broken: 1, usage: 2, inconclusive: 3, failed: 4, interrupted: 130 }

/** Errors of the command line and the configuration, before anything is measured. */
const MISTAKES: ReadonlySet<SpeedBoundsErrorCode> = new Set([
  'SPEED_BOUNDS_INVALID_OPTION',
  'SPEED_BOUNDS_CONFIG_NOT_LOADED',
  'SPEED_BOUNDS_INVALID_RESULT',
  'SPEED_BOUNDS_NO_REPOSITORY',
  'SPEED_BOUNDS_UNKNOWN_REF',
  'SPEED_BOUNDS_NO_BENCHMARKS',
])

/** The exit code of several claims: `broken` outranks `inconclusive`, which outranks `holds`. */
export function exitCodeOf(verdicts: readonly Verdict[]): number {
  const outranking = (['broken', 'inconclusive'] as const).find((verdict) => verdicts.includes(verdict))
  return EXIT[outranking ?? 'holds']
}

/** Prints an error, and returns its exit code. An error of the user has no stack trace. */
export function reportError(error: unknown): number {
  // Commander has printed its own message.
  if (error instanceof CommanderError) return error.exitCode === 0 ? 0 : EXIT.usage
  if (error instanceof Interruption) return EXIT.interrupted
  if (!(error instanceof SpeedBoundsError)) {
    process.stderr.write(`${error instanceof Error ? error.stack : String(error)}\n`)
    return EXIT.failed
  }
  process.stderr.write(`${error.code}: ${error.message}\n`)
  return MISTAKES.has(error.code) ? EXIT.usage : EXIT.failed
}
