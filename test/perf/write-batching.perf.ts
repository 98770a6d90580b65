// A plain Fastify app with fastify-write-batching and without.

import { foundProgram } from '@test/required-program'
import type { RaceOptions } from 'speed-bounds'
import { afterAll } from 'vitest'
import { endSubjects } from '../running-subjects.ts'
import { cases, proxied, subjects as frameworks } from '../suites/http-frameworks.ts'
import { bounds } from './bounds.ts'
import { perfSuite, type SuiteRace } from './suite.ts'

const pair = { fastify: frameworks.fastify, 'fastify-write-batching': frameworks['fastify-write-batching'] }

/** The generator stays awake, on the other core. */
const awake: RaceOptions = { replicas: 8, measurement: { busyPoll: 60, cycles: 6 } }
/** The generator sleeps until there is something to read, as a proxy does. */
const asleep: RaceOptions = { ...awake, measurement: { cycles: 6 } }

const { hello, json } = cases

const connectionsOf = (count: number): string => (count === 1 ? '1 connection' : `${count} connections`)

const races: SuiteRace[] = [1, 10, 100, 500].flatMap((connections) => [
  {
    title: connectionsOf(connections),
    subjects: pair,
    options: { ...asleep, connections, cases: { hello, json } },
    ...(connections === 100 && { bounds: bounds['write-batching'] }),
  },
  {
    title: `${connectionsOf(connections)}, with a generator that stays awake`,
    subjects: pair,
    options: { ...awake, connections, cases: { hello } },
  },
])

perfSuite('write-batching', [
  ...races,
  {
    title: '100 connections, 10 pipelined requests',
    subjects: pair,
    options: { ...asleep, connections: 100, pipelining: 10, cases: { hello } },
  },
  {
    title: 'peak memory with 200 connections, 100 pipelined requests',
    subjects: pair,
    options: {
      connections: 200,
      pipelining: 100,
      duration: 3000,
      replicas: 8,
      measurement: { turn: 3000, cycles: 1 },
      cases: { hello },
    },
  },
  ...(foundProgram('haproxy') === undefined
    ? []
    : [10, 100].map((connections): SuiteRace => ({
        title: `behind HAProxy, ${connections} connections`,
        subjects: proxied,
        options: { ...asleep, connections, cases: { hello } },
      }))),
])

afterAll(endSubjects)
