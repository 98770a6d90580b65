import { cases, subjects } from '../suites/http-frameworks.ts'
import { bounds } from './bounds.ts'
import { published } from './published.ts'
import { perfSuite } from './suite.ts'

const { text, hello, json, missing } = cases
const { express, fastify } = subjects

perfSuite('http-frameworks', [
  {
    title: 'text',
    subjects,
    options: { cases: { text }, replicas: 8, cycles: 2, budget: 45_000 },
    bounds: bounds['http-frameworks'],
    refuted: [{ contender: 'express', over: 'fastify', atLeast: 1.5 }],
  },
  {
    title: 'other answers',
    subjects,
    options: { cases: { hello, json, missing }, replicas: 2, cycles: 1, duration: 300 },
  },
  {
    // Its 12 threads and 10 seconds are more than a small machine has: the connections stay, the time is cut.
    title: '003 wrk -t12 -c400 -d10s',
    subjects: { express, 'node-http': subjects['node-http'], fastify },
    options: { cases: { text }, connections: 400, replicas: 3, cycles: 2 },
    published: published.seed003,
  },
  {
    title: '004 ab -k -c 200 -n 20000',
    subjects: { 'nestjs-express': subjects['nestjs-express'], 'nestjs-fastify': subjects['nestjs-fastify'] },
    options: { cases: { hello }, connections: 200, amount: 20_000, replicas: 3, cycles: 2 },
    published: published.seed004,
  },
])
