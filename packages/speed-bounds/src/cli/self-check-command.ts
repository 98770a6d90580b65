import type { Command } from 'commander'
import { bound, counted, seconds } from '../report/format.ts'
import { decisionText } from '../report/claim-sentences.ts'
import { color } from '../report/tables.ts'
import { siblingModule } from '../sibling-module.ts'
import { EXIT } from './exit-codes.ts'
import { count, type LoadFlags, optionsOf, withLoadFlags } from './load-flags.ts'
import { print } from './output.ts'
import { type SelfCheck, selfCheck } from '../self-check/self-check.ts'
import type { Neighbors, VisibleEffect } from '../self-check/visible-effects.ts'
import { parseSubject } from './subject-argument.ts'

export function addSelfCheckCommand(program: Command): void {
  withLoadFlags(program.command('self-check'), { budget: '60s' })
    .description('race a server against itself, to find the error rate and the resolution of this machine')
    .argument('[subject]', 'the server (default: a node:http server without a framework)')
    .option('-n, --tries <count>', 'number of races', count, 10)
    .action(runSelfCheck)
}

async function runSelfCheck(
  subject: string | undefined,
  { tries, ...flags }: LoadFlags & { tries: number },
): Promise<void> {
  const server =
    subject === undefined ? siblingModule('../self-check/plain-server', import.meta.url) : parseSubject(subject)[1]
  let number = 0
  const outcome = await selfCheck(server, {
    ...optionsOf(flags),
    tries,
    atLeast: flags.atLeast,
    ...(flags.metric ? { metric: flags.metric } : {}),
    onTry(decision) {
      print(color(decision.verdict, `${++number}/${tries} ${decisionText(decision)}`))
    },
  })
  print(summaryText(outcome, flags))
  process.exitCode = exitCodeOf(outcome, flags)
}

/** A self-check without a round has found neither a fault nor none. */
export function exitCodeOf({ isSuspect, held, neighbors }: SelfCheck, { atLeast }: Pick<LoadFlags, 'atLeast'>): number {
  if (isSuspect || (atLeast > 1 && held > 0)) return EXIT.broken
  return hasRounds(neighbors) ? EXIT.holds : EXIT.inconclusive
}

/** The lines below those of the races. */
export function summaryText(
  { tries, held, broken, wrong, falsePositiveRate, visible, neighbors }: SelfCheck,
  { atLeast, alpha }: Pick<LoadFlags, 'atLeast' | 'alpha'>,
): string {
  return [
    `${counted(tries, 'race')} of a server against itself, claim: at least ${bound(atLeast)}`,
    `  verdicts: ${held} holds, ${broken} broken, ${tries - held - broken} inconclusive`,
    `  false positives (an interval that misses 1): ${wrong} of ${tries} (${percent(falsePositiveRate)}, accepted ${percent(alpha)})`,
    ...visible.map(
      (effect) => `  smallest effect found in 80 % of races of ${seconds(effect.time)}: ${effectText(effect)}`,
    ),
    `  neighbors: ${neighborsText(neighbors)}`,
  ].join('\n')
}

/** A budget that is too short leaves no round. */
function hasRounds({ foreignCpu }: Neighbors): boolean {
  return !Number.isNaN(foreignCpu)
}

function neighborsText(neighbors: Neighbors): string {
  if (!hasRounds(neighbors)) return 'unknown, because no round was measured: raise --budget'
  const { foreignCpu, discarded } = neighbors
  return `${foreignCpu.toFixed(2)} cores taken by other programs, ${percent(discarded)} of rounds above the limit`
}

function effectText({ ratio: effect }: VisibleEffect): string {
  if (Number.isNaN(effect)) return 'not enough data'
  return effect < 11 ? percent(effect - 1) : 'none below 1000 %'
}

function percent(share: number): string {
  return `${(share * 100).toFixed(1)} %`
}
