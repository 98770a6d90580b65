import { expect, it } from 'vitest'
import { reasonOf } from '../../src/index.ts'

it.each([
  ['one line', new Error('the database is not there'), 'the database is not there'],
  [
    'several lines',
    new Error('\nBuild failed:\r\n  app.ts:3: Unexpected "}"\n'),
    'Build failed: app.ts:3: Unexpected "}"',
  ],
  ['a stack', new Error('no\n    at run (file:///app.ts:3:1)\n    at /app.js:4:10\nat home'), 'no at home'],
  ['colors', new Error('\u001B[31mwrong\u001B[39m'), 'wrong'],
  ['no message', new RangeError(''), 'RangeError'],
  ['a text in place of an error', 'gone', 'gone'],
  [
    'an object in place of an error',
    Object.assign(Object.create(null), { code: 1 }),
    '[Object: null prototype] { code: 1 }',
  ],
  ['undefined in place of an error', undefined, 'undefined'],
])('writes an error in one line: %s', (_kind, error, reason) => {
  expect(reasonOf(error)).toBe(reason)
})

it('names each error of an AggregateError without a message', () => {
  const errors = ['::1', '127.0.0.1'].map((host) => new Error(`connect ECONNREFUSED ${host}:5432`))
  expect(reasonOf(new AggregateError(errors))).toBe(
    'connect ECONNREFUSED ::1:5432, connect ECONNREFUSED 127.0.0.1:5432',
  )
})

it('cuts a reason of more than 500 characters', () => {
  expect(reasonOf(new Error('a'.repeat(501)))).toBe(`${'a'.repeat(500)}…`)
})
