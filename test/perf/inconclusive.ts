import type { RaceResult } from 'speed-bounds'

type JudgedClaim = Pick<RaceResult['claims'][number], 'contender' | 'over' | 'case' | 'verdict'>

/**
 * A round is disturbed if half a core more of foreign CPU would discard it, and a race if this share of its rounds is.
 * Disturbed rounds cost a few percent more, so they count. But a hypervisor does not report all the CPU that it takes, and
 * then processes of one server differed by a factor of two, where 2 % is usual.
 */
const DISTURBED = { CORES_LEFT: 0.5, SHARE: 1 / 3 }

/**
 * The reason of an inconclusive claim, if it lies in the machine and not in the product. Without other programs, it is
 * a claim that had no time for all its stages: `mostStages` is `Infinity` in a run that gives a claim seconds.
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
  // With all its stages, the claim had enough time.
  const stages = new Set(own.map(({ stage }) => stage)).size
  return isTimeShort && stages < mostStages ? 'its time ran out' : undefined
}

/** Time limit of a claim in whole milliseconds: the usual one, or the rest of the run. At the end, earlier measurements decide. */
export function claimBudget(usual: number, left: number): number {
  return Math.max(1, Math.floor(Math.min(usual, left)))
}
