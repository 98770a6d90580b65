import { readFileSync } from 'node:fs'
import { stripVTControlCharacters } from 'node:util'
import { Ajv2020 } from 'ajv/dist/2020.js'
import { beforeAll, describe, expect, it } from 'vitest'
import { readEnvironment } from '../../../src/report/environment.ts'
import { resolveClaim } from '../../../src/options/resolve-claim.ts'
import { resolveRace } from '../../../src/options/resolve.ts'
import type { ResolvedRace } from '../../../src/options/resolved.ts'
import { GENERATORS, HEAT_ORDERS, IDLE_STATES, METRICS } from '../../../src/options/types.ts'
import { type RaceRecord, type RaceResult, toResult } from '../../../src/report/result.ts'
import type { Round } from '../../../src/statistics/measured-round.ts'
import { judge } from '../../../src/statistics/verdict.ts'
import { toMarkdown, toTerminal } from '../../../src/report/tables.ts'
import {
  changed as changedIn,
  isObject,
  named,
  otherTypes,
  type Place,
  placesOf,
  valueAt,
} from '../../helpers/document-places.ts'
import { undescribedProperties } from '../../helpers/schema-errors.ts'
import { syntheticRound } from '../../helpers/synthetic-race.ts'

interface Schema {
  readonly $id: string
  readonly additionalProperties?: unknown
  readonly enum?: readonly string[]
  readonly description?: string
  readonly properties?: Readonly<Record<string, Schema>>
  readonly items?: Schema | false
  readonly $defs: Readonly<Record<string, Schema>>
}

const schema = JSON.parse(readFileSync(new URL('../../../result.schema.json', import.meta.url), 'utf8')) as Schema
const ajv = new Ajv2020({ allErrors: true, strict: true, allowUnionTypes: true })
const validate = ajv.compile(schema)

/** The errors of a document, by the schema. */
function objections(document: unknown): string[] {
  return validate(document) ? [] : validate.errors!.map(({ instancePath, message }) => `${instancePath} ${message}`)
}

const SUBJECTS = { fast: './fast.ts', slow: './slow.ts', other: { command: ['./other', '{port}'] } } as const
const race = resolveRace(SUBJECTS, {
  cases: { 'GET /': { path: '/' }, create: { path: '/items?n=1', method: 'post', expect: { status: 201 } } },
  replicas: 5,
  measurement: { cycles: 4 },
  seed: 20_261_120,
})

/** One stage of rounds: `slow` costs twice as much, `other` as much as `fast`, no two rounds are equal. */
function roundsOf({ subjects, cases, cycles, replicas }: ResolvedRace): Round[] {
  const numbers = (count: number): number[] => Array.from({ length: count }, (_, index) => index + 1)
  return numbers(cycles).flatMap((cycle) =>
    cases.flatMap((testCase) =>
      subjects.flatMap(({ name }) =>
        numbers(replicas).map((replica) => {
          const cost = (name === 'slow' ? 2 : 1) * (1 + 0.01 * Math.sin(7 * cycle + 3 * replica + name.length))
          const busy = replica === 1 && cycle === 2
          return syntheticRound({
            cycle,
            subject: name,
            replica,
            case: testCase.name,
            cpu: 20 * cost,
            throughput: 40_000 / cost,
            ...(busy ? { foreignCpu: 0.9, discarded: 'foreign-cpu' as const } : {}),
          })
        }),
      ),
    ),
  )
}

function recordOf(match: ResolvedRace, rounds: readonly Round[]): RaceRecord {
  const claims = [
    resolveClaim(match, 'slow', { atLeast: 1.5 }),
    resolveClaim(match, 'slow', { atLeast: 3, metric: 'cpu', alpha: 0.05 }),
    resolveClaim(match, 'other', { atLeast: 1, case: match.cases.at(-1)!.name }),
  ]
  return {
    race: match,
    environment: { ...readEnvironment(match.subjects, match.cwd), commit: '0123456789ab+' },
    startedAt: new Date(Date.UTC(2026, 10, 20, 12)),
    rounds,
    decisions: claims.map((claim) => judge(claim, rounds)),
    statuses: new Map([
      ['GET /', 200],
      ['create', 201],
    ]),
    stages: 1,
  }
}

const result = toResult(recordOf(race, roundsOf(race)))
/** The document after a trip through a file. */
const reread = (document: RaceResult): RaceResult => JSON.parse(JSON.stringify(document)) as RaceResult

/** A copy of the result with one place changed. */
const changed = (at: Place, change: Parameters<typeof changedIn>[2]): unknown => changedIn(result, at, change)

const isPackage = (at: Place): boolean => at[0] === 'environment' && at[1] === 'packages' && at.length === 3

const MAY_BE_NULL = ['load.amount', 'environment.commit']
const places = placesOf(result)
/** A discarded round has one more property. */
const discardedAt = result.rounds.findIndex(({ discarded }) => discarded)

describe('the schema', () => {
  it('has an ID with the version of the document', () => {
    expect(schema.$id).toBe(`urn:speed-bounds:result:${result.version}`)
    expect(objections({ ...result, version: 1 })).toEqual(['/version must be equal to constant'])
  })

  it('accepts a result', () => {
    expect(objections(result)).toEqual([])
    // Every list has entries.
    expect(places.length).toBeGreaterThan(100)
    expect(result.claims.map(({ verdict }) => verdict)).toEqual(['holds', 'broken', 'inconclusive'])
    expect(result.discarded['foreign-cpu']).toBe(6)
  })

  it('accepts a result that was written to a file and read again', () => {
    expect(reread(result)).toStrictEqual(result)
    expect(objections(reread(result))).toEqual([])
  })

  it('has the values of the options', () => {
    expect(schema.properties!['load']!.properties!['generator']!.enum).toEqual(GENERATORS)
    expect(schema.properties!['method']!.properties!['idle']!.enum).toEqual(IDLE_STATES)
    expect(schema.properties!['method']!.properties!['heats']!.enum).toEqual(HEAT_ORDERS)
    expect(schema.$defs['estimate']!.properties!['metric']!.enum).toEqual(METRICS)
  })

  it('describes every property, with its unit', () => {
    expect(undescribedProperties(schema)).toEqual([])
  })
})

describe('the schema rejects a result', () => {
  it.each(named(places.filter((at) => typeof at.at(-1) === 'string' && !isPackage(at))))('without %s', (_name, at) => {
    const document = changed(at, (parent, key) => delete parent[key])
    expect(objections(document)).toContainEqual(expect.stringContaining(`required property '${at.at(-1)}'`))
  })

  it.each(named(places.filter((at) => isObject(valueAt(result, at)) && at[1] !== 'packages')))(
    'with an unknown property in "%s"',
    (_name, at) => {
      const document = changed([...at, 'unknown'], (parent, key) => (parent[key] = 1))
      expect(objections(document)).toEqual([
        `${at.map((step) => `/${step}`).join('')} must NOT have additional properties`,
      ])
    },
  )

  it.each(named(places.filter((at) => at.length > 0)))('with another type at %s', (_name, at) => {
    const documents = otherTypes(result, at, MAY_BE_NULL.includes(at.join('.')))
    expect(documents.length).toBeGreaterThanOrEqual(4)
    expect(documents.filter((document) => objections(document).length === 0)).toEqual([])
  })

  const figures = places.filter((at) => typeof valueAt(result, at) === 'number' && at.join('.') !== 'method.seed')
  it.each(named(figures))('with a negative figure at %s', (_name, at) => {
    expect(objections(changed(at, (parent, key) => (parent[key] = -1)))).not.toEqual([])
  })

  it.each(named(figures))('with a figure at %s that JSON cannot hold', (_name, at) => {
    const documents = [Number.NaN, Number.POSITIVE_INFINITY].map((figure) =>
      changed(at, (parent, key) => (parent[key] = figure)),
    )
    expect(documents.filter((document) => objections(reread(document as RaceResult)).length === 0)).toEqual([])
  })

  it('with a round that was discarded for its result', () => {
    expect(discardedAt).toBeGreaterThan(0)
    expect(objections(changed(['rounds', discardedAt, 'discarded'], (parent, key) => (parent[key] = 'slow')))).toEqual([
      `/rounds/${discardedAt}/discarded must be equal to one of the allowed values`,
    ])
  })

  it('with an estimate of one or three subjects', () => {
    expect(objections(changed(['ratios', 0, 'replicas'], (parent, key) => (parent[key] = [5, 5, 5])))).not.toEqual([])
    expect(objections(changed(['ratios', 0, 'replicas'], (parent, key) => (parent[key] = [5])))).not.toEqual([])
  })
})

describe('the schema accepts the result of a race', () => {
  it('without measurements', () => {
    const empty = toResult({ ...recordOf(race, []), decisions: [], statuses: new Map(), stages: 0 })
    expect(empty).toMatchObject({ summaries: [], ratios: [], claims: [], rounds: [] })
    expect(objections(reread(empty))).toEqual([])
  })

  it('whose claims have no interval, because too few processes were measured', () => {
    const few = toResult(recordOf(race, roundsOf(race).slice(0, 1)))
    expect(few.claims.map(({ verdict, estimates }) => [verdict, estimates])).toEqual(
      Array.from({ length: 3 }, () => ['inconclusive', []]),
    )
    expect(objections(reread(few))).toEqual([])
  })

  it('with a fixed amount of requests, outside of a repository', () => {
    const counted = resolveRace(SUBJECTS, { path: '/', amount: 500 })
    const record = recordOf(counted, roundsOf(counted))
    const document = toResult({ ...record, environment: { ...record.environment, commit: null } })
    expect(document.load.amount).toBe(500)
    expect(objections(reread(document))).toEqual([])
  })

  it('with a tiny alpha and wide intervals', () => {
    const strict = resolveRace(SUBJECTS, { path: '/', replicas: 2, measurement: { cycles: 2 }, alpha: 1e-9 })
    expect(objections(reread(toResult(recordOf(strict, roundsOf(strict)))))).toEqual([])
  })

  it('with a single cycle', () => {
    const short = resolveRace(SUBJECTS, { path: '/', measurement: { cycles: 1 } })
    expect(objections(reread(toResult(recordOf(short, roundsOf(short)))))).toEqual([])
  })

  it('with a round whose CPU time was too short to be seen', () => {
    const rounds = roundsOf(race).map((round, index) => (index === 0 ? { ...round, cpu: 0 } : round))
    expect(objections(reread(toResult(recordOf(race, rounds))))).toEqual([])
  })

  it('of this environment', () => {
    const environment = readEnvironment(race.subjects, race.cwd)
    expect(objections(reread({ ...result, environment }))).toEqual([])
  })
})

describe.each([
  ['toTerminal', (document: RaceResult) => stripVTControlCharacters(toTerminal(document))],
  ['toMarkdown', toMarkdown],
])('%s', (_name, view) => {
  let text = ''
  beforeAll(() => {
    text = view(reread(result))
  })

  it('gives the same text for a document that was read from a file', () => {
    expect(text).toBe(view(result))
  })

  it.each(['fast', 'slow', 'other', 'GET /', 'create'])('has the subjects and cases: %s', (name) => {
    expect(text).toContain(name)
  })

  it.each(['holds', 'broken', 'inconclusive'])('has every verdict: %s', (verdict) => {
    expect(text).toContain(verdict)
  })

  it('has the generator, the machine and the seed', () => {
    expect(text).toContain('autocannon')
    expect(text).toContain('seed 20261120')
    expect(text).toContain(`Node ${process.version}`)
    expect(text).toContain(result.environment.cpu)
    expect(text).toContain('0123456789ab+')
  })

  it('has the number of rounds that do not count', () => {
    expect(text).toContain('in 6 of 120 rounds, which do not count')
  })
})
