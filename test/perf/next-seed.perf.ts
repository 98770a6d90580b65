// The tables of seed 000 under its load, the default of autocannon: 10 connections. Its cluster had 16 logical processors.
// Here it has two workers, and so has ours.

import { afterAll, beforeAll, it } from 'vitest'
import { build, BUILD_TIMEOUT, clusters, freshCases, keptCases, subjects, withEnv } from '../suites/next.ts'
import { quotasCanBeSet, removeQuotas, withinQuota } from './cpu-quota.ts'
import { load } from './next-load.ts'
import { published } from './published.ts'
import { withMeasurement } from './race-options.ts'
import { perfSuite } from './suite.ts'

const { oldPage } = keptCases
const { api } = freshCases
const {
  'next-start': nextStart,
  'fastify-custom': fastify,
  'next-on-fastify': ours,
  'fastify-cluster': fastifyCluster,
  'two-workers': ourCluster,
} = { ...subjects, ...clusters }

const all = {
  'next-start': nextStart,
  'fastify-custom': fastify,
  'fastify-cluster': fastifyCluster,
  'next-on-fastify': ours,
  'next-on-fastify, 2 workers': ourCluster,
}

/** Fastify serves its own route of this API, Next serves it without one. */
const route = { API: 'fastify' }
const withRoute = {
  'next-start': nextStart,
  'fastify-custom': withEnv(fastify, route),
  'fastify-cluster': withEnv(fastifyCluster, route),
  'next-on-fastify': withEnv(ours, route),
  'next-on-fastify, 2 workers': withEnv(ourCluster, route),
}

/** The whole container has one core. No cluster can gain anything, and with `workers: 'auto'` it has one process. */
const withinOneCore = {
  'next-start': nextStart,
  'fastify-custom': fastify,
  'fastify-cluster': fastifyCluster,
  'next-on-fastify': ours,
  "next-on-fastify, 'auto'": withEnv(ourCluster, { WORKERS: 'auto' }),
}

const asked = { ...load, connections: 10, replicas: 3 }

beforeAll(() => build(), BUILD_TIMEOUT)

it('quotas can be set here', ({ skip }) => {
  if (!quotasCanBeSet) skip('no control groups of CPU can be made here, which takes root')
})

perfSuite('next-seed', [
  { title: '000 page', subjects: all, options: { ...asked, cases: { oldPage } }, published: published.seed000page },
  { title: '000 API', subjects: withRoute, options: { ...asked, cases: { api } }, published: published.seed000api },
  {
    title: '000 API in the manner of Next',
    subjects: all,
    options: { ...asked, cases: { api } },
    published: published.seed000nextApi,
  },
  ...(quotasCanBeSet
    ? [
        {
          title: '000 page in Docker, as one core',
          subjects: Object.fromEntries(
            Object.entries(withinOneCore).map(([name, subject]) => [name, withinQuota(subject, 1)]),
          ),
          // Several periods of the quota. Two processes that share a core are optimized half as fast.
          options: withMeasurement({ maxWarmUp: 12_000 }, { ...asked, duration: 1000, cases: { oldPage } }),
          published: published.seed000docker,
        },
      ]
    : []),
])

afterAll(removeQuotas)
