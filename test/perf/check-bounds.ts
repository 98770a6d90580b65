// Compares each bound with the intervals of the last run: `node test/perf/check-bounds.ts` after `test:perf:all`. A bound
// that is more than 10 % below its interval would let a regression pass.

import { readdirSync, readFileSync } from 'node:fs'
import type { RaceResult } from 'speed-bounds'
import { type Bound, bounds, claimedBound } from './bounds.ts'

type JudgedClaim = RaceResult['claims'][number]

/** How far a bound may be below the lower end of its interval. */
const SLACK = 0.1

const folder = new URL('../../results/', import.meta.url)
const results = readdirSync(folder, { recursive: true, encoding: 'utf8' })
  .filter((name) => name.endsWith('.json'))
  .map((name) => JSON.parse(readFileSync(new URL(name, folder), 'utf8')) as Partial<RaceResult>)

const metricsOf = ({ metric }: Bound): readonly string[] => (metric ? [metric] : ['cpu', 'throughput'])

/** The claims of all races that compared the same. */
function claimsOf(bound: Bound): JudgedClaim[] {
  return results.flatMap(({ claims = [], cases = [] }) =>
    claims.filter(
      ({ contender, over, case: kase, estimates }) =>
        contender === bound.contender &&
        over === bound.over &&
        kase === (bound.case ?? cases[0]?.name) &&
        estimates.map(({ metric }) => metric).join() === metricsOf(bound).join(),
    ),
  )
}

for (const [suite, claims] of Object.entries(bounds)) {
  for (const bound of claims) {
    const claimed = claimedBound(bound, 'all').atLeast
    for (const { estimates } of claimsOf(bound).filter(({ atLeast }) => atLeast === claimed)) {
      const decisive = estimates.filter(({ generatorBound, disturbed }) => !generatorBound && !disturbed)
      const low = Math.min(...decisive.map((estimate) => estimate.low))
      const intervals = estimates.map(
        ({ metric, ratio, low: from, high }) =>
          `${metric} ${ratio.toFixed(2)}x (${from.toFixed(2)} to ${high.toFixed(2)})`,
      )
      const place = low < bound.atLeast ? 'ABOVE' : bound.atLeast < low * (1 - SLACK) ? 'LOOSE' : 'tight'
      const name = [suite, bound.case, bound.contender, bound.over].filter(Boolean).join(' ')
      console.log(
        `${place} ${name}: ${bound.atLeast} of at most ${(low * (1 - SLACK)).toFixed(3)}, ${intervals.join(', ')}`,
      )
    }
  }
}
