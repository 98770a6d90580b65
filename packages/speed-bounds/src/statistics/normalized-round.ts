import { costOf, type Measure, type Round } from './measured-round.ts'

/** A round, and the log cost that it is compared with. */
export interface NormalizedRound {
  readonly round: Round
  readonly baseline: number
}

export function relativeCost({ round, baseline }: NormalizedRound, measure: Measure): number {
  return Math.log(costOf(round, measure)) - baseline
}
