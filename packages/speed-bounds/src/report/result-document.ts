import type { Comparison } from '../compare/comparison.ts'
import type { FunctionRaceResult } from '../functions/function-result.ts'
import type { LoadReport } from '../load-test/load-report.ts'
import type { RaceResult } from './result.ts'

/** What `--json` writes: a race, a comparison of two commits, a load, or one race of functions per group. */
export type ResultDocument = RaceResult | Comparison | LoadReport | FunctionRaceResult | readonly FunctionRaceResult[]

/** One race of functions, or several. */
export function isFunctions(document: ResultDocument): document is FunctionRaceResult | readonly FunctionRaceResult[] {
  return isList(document) || ('kind' in document && document.kind === 'functions')
}

export function functionResultsOf(
  document: FunctionRaceResult | readonly FunctionRaceResult[],
): readonly FunctionRaceResult[] {
  return isList(document) ? document : [document]
}

function isList(document: ResultDocument): document is readonly FunctionRaceResult[] {
  return Array.isArray(document)
}
