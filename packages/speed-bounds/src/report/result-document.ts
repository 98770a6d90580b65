import type { Comparison } from '../compare/comparison.ts'
import type { FunctionRaceResult } from '../functions/function-result.ts'
import type { LoadReport } from '../load-test/load-report.ts'
import type { RaceResult } from './result.ts'

/** What `--json` writes: a race, a comparison of two commits, a load, or one race of functions per group. */
export type ResultDocument = RaceResult | Comparison | LoadReport | FunctionRaceResult | readonly FunctionRaceResult[]

/** A function for each kind of document. */
export interface ByKind<T> {
  readonly race: (result: RaceResult) => T
  readonly comparison: (comparison: Comparison) => T
  readonly load: (report: LoadReport) => T
  readonly functions: (results: readonly FunctionRaceResult[]) => T
}

/** Calls the function for the kind of this document. */
export function byKind<T>(document: ResultDocument, { race, comparison, load, functions }: ByKind<T>): T {
  if (isList(document)) return functions(document)
  if (!('kind' in document)) return race(document)
  if (document.kind === 'functions') return functions([document])
  return document.kind === 'load' ? load(document) : comparison(document)
}

export function functionResultsOf(
  document: FunctionRaceResult | readonly FunctionRaceResult[],
): readonly FunctionRaceResult[] {
  return isList(document) ? document : [document]
}

function isList(document: ResultDocument): document is readonly FunctionRaceResult[] {
  return Array.isArray(document)
}
