import { readFileSync } from 'node:fs'
import { Ajv2020 } from 'ajv/dist/2020.js'
import { describe, expect, it } from 'vitest'
import { type LoadReport, race } from '../../../src/index.ts'
import { changed, isObject, named, otherTypes, placesOf, valueAt } from '../../helpers/document-places.ts'
import { recordedFunctions } from '../../helpers/recorded-functions.ts'
import { measuredLoad, phase, recordedLoad } from '../../helpers/recorded-load.ts'
import { undescribedProperties } from '../../helpers/schema-errors.ts'

interface Schema {
  readonly $id: string
  readonly $ref?: string
  readonly const?: unknown
  readonly enum?: readonly unknown[]
  readonly description?: string
  readonly properties?: Readonly<Record<string, Schema>>
  readonly items?: Schema | false
  readonly $defs: Readonly<Record<string, Schema>>
}

const read = (name: string): Schema =>
  JSON.parse(readFileSync(new URL(`../../../${name}.schema.json`, import.meta.url), 'utf8')) as Schema
const schemas = { load: read('load'), functions: read('functions'), result: read('result') }
const ajv = new Ajv2020({ allErrors: true, strict: true, allowUnionTypes: true })
for (const schema of Object.values(schemas)) ajv.addSchema(schema)

/** The errors of a document, by the schema with this ID. */
function objections(id: string, document: unknown): string[] {
  const validate = ajv.getSchema(id)!
  void validate(document)
  return (validate.errors ?? []).map(({ instancePath, message }) => `${instancePath} ${message}`)
}

const [functions] = recordedFunctions()
const load = measuredLoad()

const KINDS = [
  {
    ...{ kind: 'a load', id: schemas.load.$id, part: schemas.load.$id, document: load as unknown },
    mayBeNull: /^(ceiling|total|load\.(connections|pause)|environment\.commit|phases\.0\.(rate|latency|server))$/,
  },
  {
    ...{ kind: 'functions', id: schemas.functions.$id, part: `${schemas.functions.$id}#/$defs/result` },
    ...{ document: functions as unknown, mayBeNull: /^(file|environment\.commit)$/ },
  },
]

describe.each(KINDS)('the schema of $kind', ({ id, part, document, mayBeNull }) => {
  const places = placesOf(document)
  const isPackage = (at: readonly unknown[]): boolean => at[1] === 'packages' && at.length === 3

  it('accepts a recorded result', () => {
    expect(objections(id, document)).toEqual([])
    expect(places.length).toBeGreaterThan(60)
  })

  it.each(named(places.filter((at) => typeof at.at(-1) === 'string' && !isPackage(at))))(
    'rejects a result without %s',
    (_, at) => {
      const other = changed(document, at, (parent, key) => delete parent[key])
      expect(objections(part, other)).toContainEqual(expect.stringContaining(`required property '${at.at(-1)}'`))
    },
  )

  it.each(named(places.filter((at) => isObject(valueAt(document, at)) && at[1] !== 'packages')))(
    'rejects an unknown property in "%s"',
    (_, at) => {
      const other = changed(document, [...at, 'unknown'], (parent, key) => (parent[key] = 1))
      expect(objections(part, other)).toContain(
        `${at.map((step) => `/${step}`).join('')} must NOT have additional properties`,
      )
    },
  )

  it.each(named(places.filter((at) => at.length > 0)))('rejects another type at %s', (name, at) => {
    const others = otherTypes(document, at, mayBeNull.test(name))
    expect(others.length).toBeGreaterThanOrEqual(4)
    expect(others.filter((other) => objections(part, other).length === 0)).toEqual([])
  })

  const figures = places.filter((at) => typeof valueAt(document, at) === 'number' && at.join('.') !== 'method.seed')
  it.each(named(figures))('rejects a negative figure at %s', (_, at) => {
    expect(
      objections(
        part,
        changed(document, at, (parent, key) => (parent[key] = -1)),
      ),
    ).not.toEqual([])
  })
})

describe.each(Object.entries(schemas))('the schema of %s', (_, schema) => {
  it('describes every property', () => {
    expect(undescribedProperties(schema)).toEqual([])
  })

  it.each(['instant', 'share', 'amount', 'count', 'positiveCount', 'environment'])(
    'has the %s of the other schemas',
    (name) => expect(schema.$defs[name]).toEqual(schemas.result.$defs[name]),
  )
})

describe('the schema of a load accepts', () => {
  const users: Partial<LoadReport> = {
    load: { kind: 'users', connections: null, keepAlive: false, pause: 1.5, warmUp: 0, requestTimeout: 1000 },
    ceiling: null,
    phases: [{ ...phase, load: '0 to 50 users', rate: null }],
    total: { ...phase, load: 'all stages', rate: null },
  }
  it.each<[string, Partial<LoadReport>]>([
    ['a single rate', {}],
    ['stages of users', users],
    ['a phase without responses', { phases: [{ ...phase, responses: 0, throughput: 0, latency: null }] }],
    ['a running server', { subject: 'http://127.0.0.1:3000', phases: [{ ...phase, server: null }], ceiling: null }],
    ['failures', { phases: [{ ...phase, failures: { ...phase.failures, errors: 3, message: 'read ECONNRESET' } }] }],
  ])('%s', (_, changes) => expect(objections(schemas.load.$id, recordedLoad(changes))).toEqual([]))
})

describe('the schema of functions accepts', () => {
  it('the list that the command writes', () => {
    expect(objections(schemas.functions.$id, recordedFunctions())).toEqual([])
    expect(objections(schemas.functions.$id, [])).not.toEqual([])
    expect(objections(schemas.functions.$id, [load])).not.toEqual([])
  })

  it('a race of inline functions without measurements', () => {
    const result = race({ a: () => 1, b: () => 2 }).result()
    expect(result).toMatchObject({ functions: [], ratios: [], claims: [], rounds: [] })
    expect(objections(schemas.functions.$id, JSON.parse(JSON.stringify(result)))).toEqual([])
  })
})
