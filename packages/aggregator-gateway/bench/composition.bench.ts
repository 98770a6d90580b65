import { composeOf } from '../src/endpoint/compose.ts'
import { JsonBodyReader } from '../src/call/json-body.ts'

const NAMES = ['a', 'b', 'c', 'd', 'e']
const bytes = Buffer.from(JSON.stringify({ id: 12, text: 'x'.repeat(120) }))
const outcomes = NAMES.map(() => ({
  body: new JsonBodyReader({ maxDepth: 64, mapping: undefined, mustBeObject: true }).read(bytes),
}))
const values = outcomes.map(({ body }) => body.value)

const [object, array, merge] = (['object', 'array', 'merge'] as const).map((kind) => composeOf(kind, NAMES))

/** Five responses of 150 bytes. */
export default {
  'spliced into an object': () => object!(outcomes),
  'spliced into an array': () => array!(outcomes),
  merged: () => merge!(outcomes),
  'written by JSON.stringify': () =>
    JSON.stringify(Object.fromEntries(NAMES.map((name, index) => [name, values[index]]))),
}
