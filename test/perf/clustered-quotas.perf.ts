// As many workers as a quota has cores for, against one process under the same quota: `workers: 'auto'` must not cost.

import { afterAll, it } from 'vitest'
import { cases, subjects } from '../suites/clustered-server.ts'
import { bounds } from './bounds.ts'
import { quotasCanBeSet, removeQuotas, withinQuota } from './cpu-quota.ts'
import { wholeRounds } from './race-options.ts'
import { perfSuite, type SuiteRace } from './suite.ts'

const QUOTAS = [0.25, 0.5, 1, 1.5, 2]

it('quotas can be set here', ({ skip }) => {
  if (!quotasCanBeSet) skip('no control groups of CPU can be made here, which takes root')
})

perfSuite('clustered-quotas', quotasCanBeSet ? QUOTAS.map(raceWithin) : [])

afterAll(removeQuotas)

function raceWithin(quota: number): SuiteRace {
  const { 'single-process': single, clustered } = subjects
  return {
    title: `${quota} cores`,
    subjects: {
      'single-process': withinQuota(single, quota),
      clustered: withinQuota({ ...clustered, env: { ...clustered.env, WORKERS: 'auto' } }, quota),
    },
    options: wholeRounds(2000, {
      // A response costs the generator a hundredth of its cost for the server, which would share its core otherwise.
      cases: { primes: cases.primes },
      connections: 16,
      // A quarter of a core needs this long to start, and to optimize its code.
      startTimeout: 60_000,
      // A round has twenty periods of the quota.
      measurement: { minWarmUp: 2500, maxWarmUp: 6000, cycles: 3 },
    }),
    bounds: bounds['clustered-quotas'],
  }
}
