import { cases, subjects } from '../suites/http-frameworks.ts'
import { bounds } from './bounds.ts'
import { published } from './published.ts'
import { perfSuite } from './suite.ts'

const { text, hello, json, missing } = cases
// Write batching has races of its own.
const { 'fastify-express': fastifyExpress, 'fastify-write-batching': _, ...frameworks } = subjects
const {
  express,
  'node-http': nodeHttp,
  fastify,
  'nestjs-express': nestjsExpress,
  'nestjs-fastify': nestjsFastify,
} = frameworks

perfSuite('http-frameworks', [
  {
    title: 'text',
    subjects: frameworks,
    // By turns: what disturbs one of them disturbs the others too. Awake: answers so small have levels otherwise.
    options: { cases: { text }, duration: 800, cycles: 2, busyPoll: 60 },
    bounds: bounds['http-frameworks'],
    refuted: [{ contender: 'express', over: 'fastify', atLeast: 1.5 }],
  },
  {
    // A race of its own: its heap of 300 MB keeps collecting between rounds, which the others would feel.
    title: 'Express mounted on Fastify',
    subjects: { express, 'fastify-express': fastifyExpress },
    options: { cases: { text }, cycles: 3 },
    bounds: bounds['express-on-fastify'],
  },
  {
    title: 'other answers',
    subjects: { ...frameworks, 'fastify-express': fastifyExpress },
    options: { cases: { hello, json, missing }, replicas: 2, cycles: 1 },
  },
  {
    // Its 12 threads and 10 seconds are more than a small machine has: the connections stay, the time is cut.
    title: '003 wrk -t12 -c400 -d10s',
    subjects: { express, 'node-http': nodeHttp, fastify },
    options: { cases: { text }, connections: 400, replicas: 3, cycles: 2 },
    published: published.seed003,
  },
  {
    title: '004 ab -k -c 200 -n 20000',
    subjects: { 'nestjs-express': nestjsExpress, 'nestjs-fastify': nestjsFastify },
    options: { cases: { hello }, connections: 200, amount: 20_000, replicas: 3, cycles: 2 },
    published: published.seed004,
  },
])
