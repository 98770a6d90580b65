// The headline case of each suite with each version of Node. The gateway has its own load: see gateway-seed.perf.ts.

import { afterAll, inject } from 'vitest'
import type { CaseOptions, FileSubject, RaceOptions, Subject } from 'speed-bounds'
import { fileURLToPath } from 'node:url'
import { endSubjects } from '../running-subjects.ts'
import { cases as clusterCases, subjects as clusterSubjects } from '../suites/clustered-server.ts'
import { cases as frameworkCases, subjects as frameworks } from '../suites/http-frameworks.ts'
import { build as buildNext, keptCases, subjects as nextSubjects } from '../suites/next.ts'
import { plainCases, subjects as trpcSubjects } from '../suites/trpc.ts'
import { type Bound, bounds, claimedBound } from './bounds.ts'
import { build, builtFile, nodes } from './node-versions.ts'
import { perfSuite, type SuiteRace } from './suite.ts'

const scale = inject('scale')

const options: RaceOptions = {
  replicas: scale < 0.5 ? 2 : 4,
  duration: Math.max(50, Math.round(400 * scale)),
  startTimeout: 60_000,
  measurement: {
    cycles: 2,
    minWarmUp: Math.max(50, Math.round(1000 * scale)),
    maxWarmUp: Math.max(100, Math.round(3000 * scale)),
    busyPoll: 60,
  },
}

interface Headline {
  readonly title: string
  readonly contender: Subject
  readonly over: Subject
  readonly bound: Bound
  readonly cases: Readonly<Record<string, CaseOptions>>
  readonly options?: RaceOptions
  readonly prepare?: () => Promise<unknown>
  /** Whether Node 20 runs both. The packages of this workspace need Node 22.19. */
  readonly runsOn20?: boolean
}

const byCpu = (all: readonly Bound[], over: string, kase?: string): Bound => {
  const found = all.find((bound) => bound.over === over && (kase === undefined || bound.case === kase))!
  return { ...claimedBound(found, 'headlines'), metric: 'cpu' }
}

const headlines: readonly Headline[] = [
  {
    title: 'Fastify over Express',
    contender: frameworks.fastify,
    over: frameworks.express,
    bound: byCpu(bounds['http-frameworks'], 'express'),
    cases: { text: frameworkCases.text },
    runsOn20: true,
  },
  {
    title: 'tRPC over the official adapter',
    contender: trpcSubjects['trpc-fastify'],
    over: trpcSubjects['official-adapter'],
    bound: byCpu(bounds['trpc'], 'official-adapter', 'hello'),
    cases: { hello: plainCases.hello },
    options: { connections: 100 },
  },
  {
    title: 'Cached Next page over next start',
    contender: nextSubjects['next-on-fastify'],
    over: nextSubjects['next-start'],
    bound: byCpu(bounds['next-kept'], 'next-start', 'page'),
    cases: { page: keptCases.page },
    prepare: () => buildNext(),
  },
  {
    title: 'Short connections over round robin',
    contender: clusterSubjects.clustered,
    over: clusterSubjects['node-cluster'],
    bound: byCpu(bounds['clustered-server-short'], 'node-cluster'),
    cases: { shortConnection: clusterCases.shortConnection },
    options: { measurement: { busyPoll: 0 } },
  },
  {
    title: 'Write batching over plain Fastify',
    contender: frameworks['fastify-write-batching'],
    over: frameworks.fastify,
    bound: byCpu(bounds['write-batching'], 'fastify', 'hello'),
    cases: { hello: frameworkCases.hello },
    options: { connections: 100, measurement: { busyPoll: 0 } },
  },
]

const detailsOf = (subject: Subject): FileSubject & { file: URL } =>
  (subject instanceof URL ? { file: subject } : subject) as FileSubject & { file: URL }

/** The subject with another Node. */
function withNode(subject: Subject, version: string): Subject {
  const { file, env = {} } = detailsOf(subject)
  return { command: [nodes[version]!, fileURLToPath(version === '20' ? builtFile(file) : file)], env }
}

function raceOf(headline: Headline, version: string): SuiteRace {
  const { title, contender, over, bound, cases, prepare } = headline
  return {
    title: `Node ${version}: ${title}`,
    subjects: { [bound.contender]: withNode(contender, version), [bound.over]: withNode(over, version) },
    options: {
      ...options,
      ...headline.options,
      cases,
      measurement: { ...options.measurement, ...headline.options?.measurement },
    },
    bounds: [bound],
    prepare: async () => {
      await prepare?.()
      if (version === '20') for (const subject of [contender, over]) await build(detailsOf(subject).file)
    },
  }
}

perfSuite(
  'nodes',
  Object.keys(nodes).flatMap((version) =>
    headlines
      .filter(({ runsOn20 = false }) => version !== '20' || runsOn20)
      .map((headline) => raceOf(headline, version)),
  ),
)

afterAll(endSubjects)
