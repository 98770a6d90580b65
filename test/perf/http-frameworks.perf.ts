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
    // Busy polling, because such small responses have bimodal costs.
    options: { cases: { text }, measurement: { cycles: 6, busyPoll: 60 } },
    bounds: bounds['http-frameworks'],
    refuted: [{ contender: 'express', over: 'fastify', atLeast: 1.5 }],
  },
  {
    // A separate race: its heap of 300 MB is collected between rounds, which would disturb the others.
    title: 'Express mounted on Fastify',
    subjects: { express, 'fastify-express': fastifyExpress },
    options: { cases: { text }, measurement: { heats: 'successive', cycles: 6 } },
    bounds: bounds['express-on-fastify'],
  },
  {
    title: 'other responses',
    subjects: { ...frameworks, 'fastify-express': fastifyExpress },
    options: { cases: { hello, json, missing }, replicas: 2, measurement: { cycles: 1 } },
  },
  {
    // Its 12 threads and 10 seconds are too much for a small machine. The connections are the same, the time is shorter.
    title: '003 wrk -t12 -c400 -d10s',
    subjects: { express, 'node-http': nodeHttp, fastify },
    options: { cases: { text }, connections: 400, replicas: 3, measurement: { cycles: 2 } },
    published: published.seed003,
  },
  {
    title: '004 ab -k -c 200 -n 20000',
    subjects: { 'nestjs-express': nestjsExpress, 'nestjs-fastify': nestjsFastify },
    options: { cases: { hello }, connections: 200, amount: 20_000, replicas: 3, measurement: { cycles: 2 } },
    published: published.seed004,
  },
])
