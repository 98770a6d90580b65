// As many workers as a quota has cores for, against one process under the same quota: `workers: 'auto'` must not cost.

import { afterAll, it } from 'vitest'
import { cases, subjects } from '../suites/clustered-server.ts'
import { bounds } from './bounds.ts'
import { quotasCanBeSet, removeQuotas, withinQuota } from './cpu-quota.ts'
import { perfSuite, type SuiteRace, wholeRounds } from './suite.ts'

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
    options: {
      // With 4 ms of work for each response, the generator needs 1 % of the CPU.
      cases: { primes: cases.primes },
      connections: 16,
      // A quarter of a core takes so long to start, and to have its code optimised.
      startTimeout: 60_000,
      leastWarmUp: 2500,
      warmUp: 6000,
      // Twenty periods of the quota.
      ...wholeRounds(2000),
      cycles: 3,
    },
    bounds: bounds['clustered-quotas'],
  }
}
