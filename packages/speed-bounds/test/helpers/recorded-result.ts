import { readFileSync } from 'node:fs'
import type { Comparison } from '../../src/compare/comparison.ts'
import type { RaceResult } from '../../src/report/result.ts'

/** The result of a short race of three servers, as `--json` has written it. */
export function recorded(): RaceResult {
  return JSON.parse(readFileSync(new URL('../fixtures/result.json', import.meta.url), 'utf8')) as RaceResult
}

/** A comparison of two commits with the rounds of a race. */
export function comparisonOf(result: RaceResult): Comparison {
  const [head, base] = result.subjects.map(({ name }) => name)
  const names = new Map([
    [base, 'server@main'],
    [head, 'server@HEAD'],
  ])
  const renamed = <T extends { readonly subject: string }>(items: readonly T[]): T[] =>
    items.filter(({ subject }) => names.has(subject)).map((item) => ({ ...item, subject: names.get(item.subject)! }))
  const race: RaceResult = {
    ...result,
    subjects: ['server@main', 'server@HEAD'].map((name) => ({ name, command: 'node server.ts' })),
    summaries: renamed(result.summaries).toSorted((a, b) => (a.subject > b.subject ? -1 : 1)),
    rounds: renamed(result.rounds),
    ratios: [],
    claims: [],
  }
  return {
    ...{ kind: 'comparison', version: 1, startedAt: result.startedAt, finishedAt: result.finishedAt },
    ...{ margin: 0.05, metric: 'cpu', races: { server: race } },
    base: { ref: 'main', commit: '0123456789abcdef' },
    head: { ref: 'HEAD', commit: 'fedcba9876543210' },
    cases: [
      {
        ...{ subject: 'server', case: 'GET /', verdict: 'faster', gate: 'holds' },
        ...{ ratio: 1.2, low: 1.1, high: 1.3, confidence: 0.995, base: 12, head: 10 },
      },
    ],
  }
}
