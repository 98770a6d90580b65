import { beforeAll, inject } from 'vitest'
import { build, BUILD_TIMEOUT, freshCases, keptCases, subjects } from '../suites/next.ts'
import { bounds } from './bounds.ts'
import { perfSuite } from './suite.ts'

// Of the rest nothing is claimed yet: that waits for measurements on a quiet machine.

const { page, pageGzip, oldPage, isr, handler, small, asset, assetGzip, largeGzip } = keptCases
const { api, dynamicHandler, ssr, oldSsr, streaming } = freshCases
const { 'next-on-fastify': ours, 'next-start': nextStart, standalone, ...others } = subjects
const race = { 'next-on-fastify': ours, 'next-start': nextStart }

/** Next takes seconds until all its code is optimised. */
const load = { leastWarmUp: 4000, warmUp: 7000, duration: 400, startTimeout: 60_000 }

beforeAll(async () => {
  await build()
  if (inject('races') === 'all') await build('standalone')
}, BUILD_TIMEOUT * 2)

perfSuite('next', [
  {
    title: 'pages that are kept',
    main: true,
    subjects: race,
    options: { ...load, cases: { page, pageGzip, oldPage } },
    bounds: bounds['next-kept'],
  },
  { title: 'pages and handlers with a lifetime', subjects: race, options: { ...load, cases: { isr, handler } } },
  {
    title: 'files',
    subjects: race,
    options: { ...load, cases: { small, asset, assetGzip, largeGzip } },
  },
  {
    title: 'what is rendered for each request',
    subjects: race,
    options: { ...load, duration: 1000, cases: { api, dynamicHandler, ssr, oldSsr } },
  },
  { title: 'streaming', subjects: race, options: { ...load, duration: 2000, connections: 20, cases: { streaming } } },
  {
    title: 'other servers',
    subjects: { ...race, standalone, ...others },
    options: { ...load, cases: { page, oldPage, api }, replicas: 3 },
  },
])
