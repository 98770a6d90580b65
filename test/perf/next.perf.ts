import { foundProgram } from '@test/required-program'
import { afterAll, beforeAll, it } from 'vitest'
import {
  build,
  BUILD_TIMEOUT,
  freshCases,
  keptCases,
  learnedCases,
  proxyCases,
  subjects,
  withEnv,
} from '../suites/next.ts'
import { WATT_NEXT_INSTALL, wattOnBuild } from '../suites/watt-next.ts'
import { bounds } from './bounds.ts'
import { load, renderedPages, smallAnswers } from './next-load.ts'
import { wholeRounds, withMeasurement } from './race-options.ts'
import { perfSuite } from './suite.ts'

const { page, pageGzip, oldPage, isr, oldIsr, handler, small, asset, assetGzip, largeGzip } = keptCases
const { api, dynamicHandler, ssr, oldSsr, streaming } = freshCases
const {
  'next-on-fastify': ours,
  'next-on-fastify-direct': direct,
  'next-start': nextStart,
  standalone,
  ...others
} = subjects
const race = { 'next-on-fastify': ours, 'next-start': nextStart }
const directRace = { 'next-on-fastify-direct': direct, 'next-start': nextStart }

const proxy = { NEXT_VARIANT: 'proxy' }
const behindProxy = { 'next-on-fastify': withEnv(ours, proxy), 'next-start': withEnv(nextStart, proxy) }
const routeOfFastify = { 'next-on-fastify': withEnv(ours, { API: 'fastify' }), 'next-start': nextStart }

// Requests of clients contain parts of a build, and a race needs its requests before it starts.
await build()
const learned = await learnedCases()
const watt = await wattOnBuild()

beforeAll(async () => {
  await build('proxy')
  await build('standalone')
}, BUILD_TIMEOUT * 2)

it('Watt takes part', ({ skip }) => {
  if (watt === undefined) skip(WATT_NEXT_INSTALL)
})

perfSuite('next', [
  {
    title: 'pages that are kept',
    subjects: race,
    options: { ...smallAnswers, cases: { page, pageGzip, oldPage } },
    bounds: bounds['next-kept'],
  },
  {
    title: 'pages and handlers with a lifetime',
    subjects: race,
    options: { ...smallAnswers, cases: { isr, oldIsr, handler } },
    bounds: bounds['next-lifetime'],
  },
  {
    title: 'what clients ask for who have been there',
    subjects: race,
    options: { ...smallAnswers, cases: { ...learned } },
    bounds: bounds['next-learned'],
  },
  {
    title: 'pages behind proxy.ts',
    subjects: behindProxy,
    options: { ...load, cases: { ...proxyCases } },
    bounds: bounds['next-proxy'],
  },
  {
    title: 'a route of Fastify in place of one of pages/api',
    subjects: routeOfFastify,
    options: { ...smallAnswers, cases: { api } },
    bounds: bounds['next-route'],
  },
  {
    title: 'files',
    subjects: race,
    options: { ...smallAnswers, cases: { small, asset, assetGzip } },
    bounds: bounds['next-files'],
  },
  {
    // autocannon reads a twentieth of the bytes that this server can send.
    title: 'a large file',
    subjects: race,
    options: wholeRounds(2000, {
      ...load,
      ...(foundProgram('wrk') && { generator: 'wrk' }),
      cases: { largeGzip },
    }),
    bounds: bounds['next-large-file'],
  },
  {
    title: 'what is rendered for each request',
    subjects: race,
    options: { ...renderedPages, cases: { api, dynamicHandler, ssr, oldSsr } },
    bounds: bounds['next-rendered'],
  },
  {
    title: 'without the router server',
    subjects: directRace,
    options: { ...renderedPages, cases: { api, dynamicHandler, ssr, oldSsr } },
    bounds: bounds['next-direct'],
  },
  {
    title: 'streaming without the router server',
    subjects: directRace,
    options: withMeasurement(
      { turn: 500 },
      { ...renderedPages, duration: 2000, connections: 100, cases: { streaming } },
    ),
    bounds: bounds['next-direct-streaming'],
  },
  {
    title: 'streaming',
    subjects: race,
    options: withMeasurement(
      { turn: 500 },
      { ...renderedPages, duration: 2000, connections: 100, cases: { streaming } },
    ),
  },
  {
    title: 'other servers',
    subjects: { ...race, standalone, ...others, ...(watt && { watt: watt.subject }) },
    options: { ...load, cases: { page, oldPage, api }, replicas: 3 },
  },
])

afterAll(() => watt?.remove())
