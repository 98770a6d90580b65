import { bothProtocols, plainCases, subjects, trpcCases } from '../suites/trpc.ts'
import { bounds } from './bounds.ts'
import { published } from './published.ts'
import { perfSuite, wholeRounds } from './suite.ts'

const { hello, greet, greetChecked, note, article } = plainCases
const { batch, middlewares, options, stream, laterStream, events } = trpcCases
const { 'trpc-fastify': ours, 'official-adapter': official, 'plain-fastify': plainFastify, ...others } = subjects
const race = { 'trpc-fastify': ours, 'official-adapter': official }

/**
 * Longer rounds, because a second of uncounted load comes before each. Each server is one process, which leaves a core for a
 * generator that stays awake.
 */
const load = { connections: 100, busyPoll: 60, duration: 1600, cycles: 2 }

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
    options: { ...load, cases: { greet, greetChecked, article }, replicas: 8 },
    bounds: bounds['trpc-values'],
  },
  {
    title: 'over plain routes',
    subjects: { 'plain-fastify': plainFastify, 'trpc-fastify': ours },
    // The CPU of a process varies between 13 and 20 µs, so a difference of some per cent needs many processes.
    options: { ...load, cases: { hello, note, greet, greetChecked, article }, replicas: 8 },
    bounds: bounds['trpc-plain'],
  },
  {
    title: 'requests that only tRPC servers support',
    subjects: race,
    options: { ...load, cases: { batch, middlewares, options }, replicas: 8 },
    bounds: bounds['trpc-only'],
  },
  {
    title: 'streamed batches',
    subjects: race,
    // A response has dozens of promises and streams, so the heap needs many responses to find its size.
    options: { ...load, cases: { stream, laterStream }, duration: 1000 },
    bounds: bounds['trpc-stream'],
  },
  {
    title: 'subscriptions of 20 events, 500 subscribers',
    subjects: race,
    options: { ...load, busyPoll: 0, cases: { events }, connections: 500, ...wholeRounds(2000) },
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
    options: {
      ...wholeRounds(3000),
      cases: { hello, greet },
      connections: 200,
      pipelining: 100,
      cycles: 1,
      replicas: 3,
    },
    bounds: bounds['trpc-seed'],
    published: published.seed002,
  },
  {
    title: 'peak memory under the load of 002',
    subjects: { 'plain-fastify': plainFastify, 'trpc-fastify': ours },
    // Processes differ by a factor of 1.3.
    options: { ...wholeRounds(3000), cases: { hello }, connections: 200, pipelining: 100, cycles: 1, replicas: 12 },
    bounds: bounds['trpc-seed-memory'],
  },
])
