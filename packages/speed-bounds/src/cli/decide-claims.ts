import type { ConfigClaim } from '../options/config-types.ts'
import { isOnPath } from '../load/find-program.ts'
import type { Race } from '../race/race.ts'
import { adviceText } from '../report/claim-sentences.ts'
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
  const canUseWrk = match.generator !== 'wrk' && isOnPath('wrk')
  const verdicts: Verdict[] = []
  const printed = new Set<string>()
  for (const { over, ...claim } of claims) {
    const decision = await match.decide(over, { ...claim, ...(signal && { signal }) })
    verdicts.push(decision.verdict)
    const advice = adviceText(decision, canUseWrk)
    // Claims of one race often need the same advice.
    if (advice && !printed.has(advice)) print(wrap(advice, terminal.columns ?? Infinity))
    printed.add(advice)
  }
  return verdicts
}

/** Prints and writes the result of a race, and sets the exit code. */
export function writeRace(match: Race, verdicts: readonly Verdict[], files: OutputFiles): void {
  const result = match.result()
  print(toTerminal(result, terminal))
  writeOutputFiles(result, files)
  process.exitCode = exitCodeOf(verdicts)
}
