import { test } from 'vitest'
import { JsonBodyReader } from '../src/call/json-body.ts'

const OPTIONS = { maxDepth: 64, mapping: undefined, mustBeObject: false }

for (const lines of [1, 15, 200]) {
  const bytes = Buffer.from(
    JSON.stringify({ lines: Array.from({ length: lines }, () => ({ id: 12, text: 'x'.repeat(80) })) }),
  )
  test(`a body of ${bytes.length} bytes`, async ({ bench }) => {
    const reader = new JsonBodyReader(OPTIONS)
    const other = Buffer.from(bytes.toString().replace('12', '13'))
    const copy = Buffer.from(bytes)
    let turn = false
    await bench.compare(
      bench('the same as before', () => {
        turn = !turn
        reader.read(turn ? bytes : copy)
      }),
      bench('another each time', () => {
        turn = !turn
        reader.read(turn ? bytes : other)
      }),
      bench('parsed and written again', () => {
        JSON.stringify(JSON.parse(bytes.toString()))
      }),
    )
  })
}
