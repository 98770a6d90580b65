import type { ConfigClaim } from '../options/config-types.ts'
import { isOnPath } from '../load/find-program.ts'
import type { Race } from '../race/race.ts'
import { adviceOnce } from '../report/claim-sentences.ts'
import { toTerminal } from '../report/tables.ts'
import { wrap } from '../report/terminal-width.ts'
import type { Verdict } from '../statistics/verdict.ts'
import { exitCodeOf } from './exit-codes.ts'
import { print, terminal } from './output.ts'
import { type OutputFiles, writeOutputFiles } from './output-files.ts'

/** Decides claims one after the other, and prints advice for those that are inconclusive. */
export async function decideClaims(
  match: Race,
  claims: readonly ConfigClaim[],
  signal?: AbortSignal,
): Promise<Verdict[]> {
  const advise = adviceOnce(match.generator !== 'wrk' && isOnPath('wrk'))
  const verdicts: Verdict[] = []
  for (const { over, ...claim } of claims) {
    const decision = await match.decide(over, { ...claim, ...(signal && { signal }) })
    verdicts.push(decision.verdict)
    const advice = advise(decision)
    if (advice) print(wrap(advice, terminal.columns ?? Infinity))
  }
  return verdicts
}

/**
 * Profiles the subjects if asked to, prints and writes the result of the race, and sets the exit code. A profile that
 * fails loses no result: its error is thrown at the end.
 */
export async function finishRace(
  match: Race,
  verdicts: readonly Verdict[],
  { profile, ...files }: OutputFiles & { readonly profile?: true },
  signal?: AbortSignal,
): Promise<void> {
  try {
    if (profile) await match.profile({ ...(signal && { signal }) })
  } finally {
    writeRace(match, verdicts, files)
  }
}

function writeRace(match: Race, verdicts: readonly Verdict[], files: OutputFiles): void {
  const result = match.result()
  print(toTerminal(result, terminal))
  writeOutputFiles(result, files)
  process.exitCode = exitCodeOf(verdicts)
}
