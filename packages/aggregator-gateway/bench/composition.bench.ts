import { test } from 'vitest'
import { composeOf } from '../src/endpoint/compose.ts'
import { JsonBodyReader } from '../src/call/json-body.ts'

const NAMES = ['a', 'b', 'c', 'd', 'e']
const bytes = Buffer.from(JSON.stringify({ id: 12, text: 'x'.repeat(120) }))
const outcomes = NAMES.map(() => ({
  body: new JsonBodyReader({ maxDepth: 64, mapping: undefined, mustBeObject: true }).read(bytes),
}))
const values = outcomes.map(({ body }) => body.value)

test('five answers of 150 bytes', async ({ bench }) => {
  const [object, array, merge] = (['object', 'array', 'merge'] as const).map((kind) => composeOf(kind, NAMES))
  await bench.compare(
    bench('spliced into an object', () => {
      object!(outcomes)
    }),
    bench('spliced into an array', () => {
      array!(outcomes)
    }),
    bench('merged', () => {
      merge!(outcomes)
    }),
    bench('written by JSON.stringify', () => {
      JSON.stringify(Object.fromEntries(NAMES.map((name, index) => [name, values[index]])))
    }),
  )
})
