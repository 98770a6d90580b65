// The gain of several workers of `clustered-server` where Next renders for each request, and the cost of `workers: 'auto'`
// with one core.

import { afterAll, beforeAll, it } from 'vitest'
import { build, BUILD_TIMEOUT, clusters, freshCases, keptCases, subjects, withEnv } from '../suites/next.ts'
import { bounds } from './bounds.ts'
import { quotasCanBeSet, removeQuotas, withinQuota } from './cpu-quota.ts'
import { renderedPages } from './next-load.ts'
import { wholeRounds, withMeasurement } from './race-options.ts'
import { perfSuite } from './suite.ts'

const { ssr, oldSsr } = freshCases
const { page } = keptCases
const { 'one-worker': one, 'two-workers': two } = clusters

beforeAll(() => build(), BUILD_TIMEOUT)

it('quotas can be set here', ({ skip }) => {
  if (!quotasCanBeSet) skip('no control groups of CPU can be made here, which takes root')
})

perfSuite('next-workers', [
  {
    // Milliseconds of work. Two workers get half of the responses each, which delays optimization. At the end of a turn
    // one worker can be idle while the other has work, so turns last a second.
    title: '2 workers over 1',
    subjects: { 'two-workers': two, 'one-worker': one },
    options: withMeasurement(
      { turn: 1000, minWarmUp: 15_000, maxWarmUp: 20_000 },
      { ...renderedPages, duration: 4000, connections: 16, cases: { ssr, oldSsr } },
    ),
    bounds: bounds['next-workers'],
  },
  ...(quotasCanBeSet
    ? [
        {
          title: "a quota of one core, with workers: 'auto'",
          subjects: {
            "next-on-fastify, 'auto'": withinQuota(withEnv(two, { WORKERS: 'auto' }), 1),
            'next-on-fastify': withinQuota(subjects['next-on-fastify'], 1),
            'next-start': withinQuota(subjects['next-start'], 1),
          },
          // Several periods of the quota.
          options: withMeasurement({ cycles: 4 }, wholeRounds(1000, { ...renderedPages, cases: { ssr, page } })),
          bounds: bounds['next-quota'],
        },
      ]
    : []),
])

afterAll(removeQuotas)
