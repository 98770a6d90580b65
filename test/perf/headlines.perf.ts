// The main job: the headline claims of the five suites, in minutes. `test:perf:all` has all claims.

import { afterAll } from 'vitest'
import type { RaceOptions } from 'speed-bounds'
import { endSubjects } from '../running-subjects.ts'
import { cases as clusterCases, subjects as clusterSubjects } from '../suites/clustered-server.ts'
import { cases as gatewayCases, startUpstreams, subjects as gateways } from '../suites/gateway.ts'
import { cases as frameworkCases, subjects as frameworks } from '../suites/http-frameworks.ts'
import { build, keptCases, subjects as nextSubjects } from '../suites/next.ts'
import { plainCases, subjects as trpcSubjects } from '../suites/trpc.ts'
import { type Bound, bounds } from './bounds.ts'
import { published } from './published.ts'
import { wholeRounds, withMeasurement } from './race-options.ts'
import { perfSuite } from './suite.ts'

/**
 * Four processes of each subject, warmed for a second or two: enough for claims with a wide margin. One process of each
 * subject lives at a time: after a longer pause, a large heap would need a lead.
 */
const quick: RaceOptions = {
  replicas: 4,
  measurement: { heats: 'successive', cycles: 6, minWarmUp: 900, maxWarmUp: 2000 },
}

/** Small responses of one process: a generator that stays awake has the other core. */
const awake: RaceOptions = withMeasurement({ busyPoll: 60 }, quick)

const claimOf = (suite: keyof typeof bounds, ...cases: readonly string[]): readonly Bound[] =>
  bounds[suite].filter((bound) => bound.case === undefined || cases.includes(bound.case))

const byCpu = ({ metric }: Bound): boolean => metric === 'cpu'

perfSuite('headlines', [
  // Its first look decides: a reader has a verdict within a minute.
  {
    title: 'Short connections over round robin',
    subjects: { clustered: clusterSubjects.clustered, 'node-cluster': clusterSubjects['node-cluster'] },
    options: { ...quick, cases: { shortConnection: clusterCases.shortConnection } },
    bounds: bounds['clustered-server-short'],
  },
  {
    title: 'Fastify over Express',
    subjects: { express: frameworks.express, fastify: frameworks.fastify },
    options: { ...awake, cases: { text: frameworkCases.text } },
    bounds: bounds['http-frameworks'].filter(({ contender, over }) => contender === 'fastify' && over === 'express'),
    published: {
      ...published.seed003,
      figures: published.seed003.figures.filter(({ subject }) => subject !== 'node-http'),
    },
  },
  {
    title: 'tRPC over the official adapter and over a plain route',
    subjects: {
      'plain-fastify': trpcSubjects['plain-fastify'],
      'trpc-fastify': trpcSubjects['trpc-fastify'],
      'official-adapter': trpcSubjects['official-adapter'],
    },
    // The official adapter needs seconds until V8 has optimized its code.
    options: withMeasurement(
      { minWarmUp: 1500, maxWarmUp: 4000 },
      { ...awake, connections: 100, cases: { hello: plainCases.hello } },
    ),
    bounds: claimOf('trpc', 'hello'),
  },
  {
    title: 'Gateway over NestJS with axios and over hand-written undici',
    prepare: startUpstreams,
    subjects: {
      'aggregator-gateway': gateways['aggregator-gateway'],
      'fastify-undici': gateways['fastify-undici'],
      'nestjs-express-axios': gateways['nestjs-express-axios'],
    },
    // The upstreams are foreign CPU of up to a core.
    options: withMeasurement(
      { minWarmUp: 3000, maxWarmUp: 5000, maxForeignCpu: 1.5 },
      { ...quick, duration: 400, connections: 100, cases: { small: gatewayCases.small } },
    ),
    bounds: [...bounds['gateway'], ...bounds['gateway-nest-axios']].filter(byCpu),
  },
  {
    title: 'Two workers over one',
    subjects: { 'single-process': clusterSubjects['single-process'], clustered: clusterSubjects.clustered },
    options: withMeasurement(
      { cycles: 3 },
      wholeRounds(1000, { ...quick, connections: 16, cases: { primes: clusterCases.primes } }),
    ),
    bounds: bounds['clustered-server-work'].filter(({ metric }) => metric === 'throughput'),
  },
  {
    title: 'Cached Next page over next start',
    prepare: () => build(),
    subjects: { 'next-on-fastify': nextSubjects['next-on-fastify'], 'next-start': nextSubjects['next-start'] },
    options: withMeasurement(
      { minWarmUp: 4000, maxWarmUp: 6000 },
      { ...awake, startTimeout: 60_000, cases: { page: keptCases.page, pageGzip: keptCases.pageGzip } },
    ),
    bounds: claimOf('next-kept', 'page', 'pageGzip').filter(byCpu),
  },
])

afterAll(endSubjects)
