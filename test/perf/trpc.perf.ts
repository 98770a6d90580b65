import type { RaceOptions } from 'speed-bounds'
import { bothProtocols, plainCases, restCases, subjects, trpcCases } from '../suites/trpc.ts'
import { bounds } from './bounds.ts'
import { published } from './published.ts'
import { wholeRounds, withMeasurement } from './race-options.ts'
import { perfSuite } from './suite.ts'

const { hello, greet, greetChecked, note, article } = plainCases
const { batch, middlewares, options, stream, laterStream, events } = trpcCases
const { query, path, body, long } = restCases
const {
  'trpc-fastify': ours,
  'trpc-fastify-rest': rest,
  'official-adapter': official,
  'plain-fastify': plainFastify,
  ...others
} = subjects
const race = { 'trpc-fastify': ours, 'official-adapter': official }

/** A core is free for busy polling. The official adapter needs seconds until V8 has optimized its code, and its heap is large. */
const load: RaceOptions = {
  connections: 100,
  measurement: { busyPoll: 60, heats: 'successive', minWarmUp: 1500, maxWarmUp: 4000, cycles: 4 },
}

perfSuite('trpc', [
  {
    title: 'a query and a mutation',
    subjects: { 'plain-fastify': plainFastify, ...race },
    options: { ...load, cases: { hello, note } },
    bounds: bounds['trpc'],
  },
  {
    title: 'inputs, outputs and a response of 10 kB',
    subjects: race,
    options: { ...load, cases: { greet, greetChecked, article } },
    bounds: bounds['trpc-values'],
  },
  {
    title: 'over plain routes',
    subjects: { 'plain-fastify': plainFastify, 'trpc-fastify': ours },
    // Processes of both change between 13 and 20 µs while they run. It takes many to resolve a few percent. With this many
    // connections, those for all cases stay open.
    options: { ...load, connections: 80, cases: { hello, note, greet, greetChecked, article }, replicas: 8 },
    bounds: bounds['trpc-plain'],
  },
  {
    title: 'REST over plain routes',
    subjects: { 'plain-fastify': plainFastify, 'trpc-fastify-rest': rest },
    options: { ...load, cases: { query, path, body, long }, replicas: 8 },
    bounds: bounds['trpc-rest'],
  },
  {
    title: 'requests that only tRPC servers support',
    subjects: race,
    options: { ...load, cases: { batch, middlewares, options } },
    bounds: bounds['trpc-only'],
  },
  {
    title: 'streamed batches',
    subjects: race,
    // A response has dozens of promises and streams. The heap needs many responses to find its size.
    options: { ...load, cases: { stream, laterStream }, duration: 1000 },
    bounds: bounds['trpc-stream'],
  },
  {
    title: 'subscriptions of 20 events, 500 subscribers',
    subjects: race,
    options: withMeasurement({ busyPoll: 0 }, wholeRounds(2000, { ...load, cases: { events }, connections: 500 })),
    bounds: bounds['trpc-subscriptions'],
  },
  {
    title: 'other servers',
    subjects: { ...race, 'plain-fastify': plainFastify, ...others },
    options: { ...load, cases: { hello: bothProtocols.hello }, replicas: 3 },
  },
  {
    title: '002 autocannon -c 200 -d 10 -p 100',
    subjects: { 'plain-fastify': plainFastify, 'official-adapter': official, 'trpc-fastify': ours },
    options: wholeRounds(3000, {
      cases: { hello, greet },
      connections: 200,
      pipelining: 100,
      replicas: 3,
      measurement: { cycles: 1 },
    }),
    bounds: bounds['trpc-seed'],
    published: published.seed002,
  },
  {
    title: 'peak memory under the load of 002',
    subjects: { 'plain-fastify': plainFastify, 'trpc-fastify': ours },
    // Processes differ by a factor of 1.3.
    options: wholeRounds(3000, {
      cases: { hello },
      connections: 200,
      pipelining: 100,
      replicas: 12,
      measurement: { cycles: 1 },
    }),
    bounds: bounds['trpc-seed-memory'],
  },
])
