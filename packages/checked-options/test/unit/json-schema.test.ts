import { expect, it } from 'vitest'
import {
  anyOf,
  boolean,
  bytes,
  custom,
  func,
  instanceOf,
  integer,
  list,
  milliseconds,
  number,
  object,
  oneOf,
  optional,
  port,
  record,
  string,
  toJsonSchema,
} from '../../src/index.ts'

it.each([
  ['boolean()', boolean(), { type: 'boolean' }],
  ['integer()', integer(), { type: 'integer' }],
  ['integer(1)', integer(1), { type: 'integer', minimum: 1 }],
  ['port()', port(), { type: 'integer', minimum: 0, maximum: 65_535 }],
  ['number()', number(), { type: 'number' }],
  ['number(0, 1)', number(0, 1), { type: 'number', minimum: 0, maximum: 1 }],
  ['milliseconds()', milliseconds(), { type: 'integer', minimum: 1, maximum: 2_147_483_647 }],
  ['bytes()', bytes(), { type: 'integer', minimum: 1 }],
  ['string()', string(), { type: 'string', minLength: 1 }],
  ['string() with a pattern', string('a path', /^\//), { type: 'string', pattern: '^\\/' }],
  ['oneOf()', oneOf('a', 'b'), { enum: ['a', 'b'] }],
  ['anyOf()', anyOf(boolean(), integer()), { anyOf: [{ type: 'boolean' }, { type: 'integer' }] }],
  ['anyOf() with a function', anyOf(boolean(), func()), { type: 'boolean' }],
  ['list()', list(boolean()), { type: 'array', items: { type: 'boolean' } }],
  ['record()', record(boolean()), { type: 'object', additionalProperties: { type: 'boolean' } }],
  ['custom() with a schema', custom('a text', () => true, { type: 'string' }), { type: 'string' }],
])('%s has its JSON Schema', (_title, kind, json) => {
  expect(toJsonSchema(kind)).toEqual(json)
})

it.each([
  ['func()', func()],
  ['instanceOf()', instanceOf(Map)],
  ['custom()', custom('anything', () => true)],
  ['list() of functions', list(func())],
  ['record() of functions', record(func())],
])('%s is left out of an object', (_title, kind) => {
  expect(toJsonSchema(object({ a: boolean(), b: kind, c: optional(kind) }))).toEqual({
    type: 'object',
    properties: { a: { type: 'boolean' } },
    required: ['a'],
    additionalProperties: false,
  })
})

it('an object has its options, and what is added to them', () => {
  const inner = object({ b: optional(integer(), 7) })
  const schema = object({ a: optional(inner) })
  const annotate = (name: string, of: unknown) => ({ description: `${name} of ${of === inner ? 'inner' : 'schema'}` })
  expect(toJsonSchema(schema, annotate)).toEqual({
    type: 'object',
    properties: {
      a: {
        description: 'a of schema',
        type: 'object',
        properties: { b: { description: 'b of inner', type: 'integer' } },
        additionalProperties: false,
      },
    },
    additionalProperties: false,
  })
})
