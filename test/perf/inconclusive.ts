import type { RaceResult } from 'speed-bounds'

type JudgedClaim = Pick<RaceResult['claims'][number], 'contender' | 'over' | 'case' | 'verdict'>

/**
 * A round is disturbed when others had so much CPU that half a core more would have it discarded, and a race when more than
 * this share of its rounds is. Most disturbed rounds count all the same, as they cost a few per cent more; but where a
 * hypervisor gives the machine to others, not all that it takes is told, and processes of one server differed by a factor
 * of two, where 2 % is usual.
 */
const DISTURBED = { CORES_LEFT: 0.5, SHARE: 1 / 3 }

/**
 * The cause of an inconclusive claim that lies in the machine and not in the product: no failure then. A broken claim never has
 * one. `mostStages` is `Infinity` for a run in which a claim has seconds instead of minutes.
 */
export function excuseOf(
  claim: JudgedClaim,
  { rounds, method: { maxForeignCpu } }: Pick<RaceResult, 'rounds' | 'method'>,
  { isTimeShort, mostStages }: { isTimeShort: boolean; mostStages: number },
): string | undefined {
  if (claim.verdict !== 'inconclusive') return undefined
  const own = rounds.filter(
    (round) => round.case === claim.case && [claim.contender, claim.over].includes(round.subject),
  )
  const disturbed = own.filter(({ foreignCpu }) => foreignCpu > maxForeignCpu - DISTURBED.CORES_LEFT).length
  if (disturbed > DISTURBED.SHARE * own.length) {
    return `other programs kept the machine busy in ${disturbed} of ${own.length} rounds`
  }
  // With all its stages, it is not for want of time.
  const stages = new Set(own.map(({ stage }) => stage)).size
  return isTimeShort && stages < mostStages ? 'its time ran out' : undefined
}

/**
 * Milliseconds that a claim may take: what a claim has as a rule, or what is left of the run. Where nothing is left, it is
 * the least that a claim takes, which then is decided by what was measured before.
 */
export function claimBudget(usual: number, left: number): number {
  return Math.max(1, Math.min(usual, left))
}
