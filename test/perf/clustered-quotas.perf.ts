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
      // What an answer costs the generator is a hundredth of what it costs the server, whose core it would else share.
      cases: { primes: cases.primes },
      connections: 16,
      // A quarter of a core takes so long to start, and to have its code optimised.
      startTimeout: 60_000,
      // A round has twenty periods of the quota.
      measurement: { minWarmUp: 2500, maxWarmUp: 6000, cycles: 3 },
    }),
    bounds: bounds['clustered-quotas'],
  }
}
