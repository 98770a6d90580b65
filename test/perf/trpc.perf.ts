import { bothProtocols, plainCases, subjects, trpcCases } from '../suites/trpc.ts'
import { bounds } from './bounds.ts'
import { published } from './published.ts'
import { perfSuite } from './suite.ts'

const { hello, greet, greetChecked, note, article } = plainCases
const { batch, middlewares, options, stream, laterStream, events } = trpcCases
const { 'trpc-fastify': ours, 'official-adapter': official, 'plain-fastify': plainFastify, ...others } = subjects
const race = { 'trpc-fastify': ours, 'official-adapter': official }

perfSuite('trpc', [
  {
    title: 'a query and a mutation',
    main: true,
    subjects: { 'plain-fastify': plainFastify, ...race },
    options: { cases: { hello, note }, connections: 100, duration: 400, cycles: 3 },
    bounds: bounds['trpc'],
  },
  {
    title: 'inputs, outputs, and an answer of 10 kB',
    subjects: { 'plain-fastify': plainFastify, ...race },
    options: { cases: { greet, greetChecked, article }, connections: 100, cycles: 2 },
    bounds: bounds['trpc-values'],
  },
  {
    title: 'what only tRPC answers',
    subjects: race,
    options: { cases: { batch, middlewares, options }, connections: 100, cycles: 2, replicas: 8 },
    bounds: bounds['trpc-only'],
  },
  {
    title: 'streamed batches',
    subjects: race,
    // An answer has dozens of promises and streams: the heap takes many of them to find its size.
    options: { cases: { stream, laterStream }, connections: 100, duration: 1000, cycles: 2, replicas: 4 },
    bounds: bounds['trpc-stream'],
  },
  {
    title: 'subscriptions of 20 events, 500 subscribers',
    subjects: race,
    options: { cases: { events }, connections: 500, duration: 2000, cycles: 2, replicas: 3 },
    bounds: bounds['trpc-subscriptions'],
  },
  {
    title: 'other servers',
    subjects: { ...race, 'plain-fastify': plainFastify, ...others },
    options: { cases: { hello: bothProtocols.hello }, connections: 100, cycles: 2, replicas: 3 },
  },
  {
    title: '002 autocannon -c 200 -d 10 -p 100',
    subjects: { 'plain-fastify': plainFastify, 'official-adapter': official, 'trpc-fastify': ours },
    options: { cases: { hello, greet }, connections: 200, pipelining: 100, duration: 3000, cycles: 1, replicas: 3 },
    bounds: bounds['trpc-seed'],
    published: published.seed002,
  },
])
