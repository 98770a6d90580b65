import type { Metric } from '../options/types.ts'
import type { RaceResult } from '../report/result.ts'
import type { Verdict } from '../statistics/verdict.ts'

/** `within`: the whole interval lies within the margin around 1. */
export type CaseVerdict = 'faster' | 'slower' | 'within' | 'inconclusive'

/** Enough of a hash to tell commits of a repository apart. */
export const shortHash = (commit: string): string => commit.slice(0, 12)

/** A side of a comparison, such as `main (0123456789ab)`. */
export function sideText({ ref, commit }: Comparison['base']): string {
  const hash = shortHash(commit)
  return ref === hash ? hash : `${ref} (${hash})`
}

/** One subject and one case at two refs. */
export interface CaseComparison {
  readonly subject: string
  readonly case: string
  readonly verdict: CaseVerdict
  /** The claim that the head is not slower by more than the margin. */
  readonly gate: Verdict
  /** Above 1: the head is better. Null: too few rounds counted. */
  readonly ratio: number | null
  readonly low: number | null
  readonly high: number | null
  readonly confidence: number | null
  /** Mean of the metric, in the unit of the result document. Null: no round counted. */
  readonly base: number | null
  readonly head: number | null
}

/** The result of a comparison as one JSON document. */
export interface Comparison {
  readonly kind: 'comparison'
  readonly version: 1
  readonly startedAt: string
  readonly finishedAt: string
  readonly base: { readonly ref: string; readonly commit: string }
  readonly head: { readonly ref: string; readonly commit: string }
  /** 0.05: up to 5 % more or less is no difference. */
  readonly margin: number
  readonly metric: Metric
  readonly cases: readonly CaseComparison[]
  /** The race of each subject at both refs, by the subject's name. */
  readonly races: Readonly<Record<string, RaceResult>>
}
