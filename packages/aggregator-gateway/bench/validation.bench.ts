import { JsonBodyReader } from '../src/call/json-body.ts'

const OPTIONS = { maxDepth: 64, mapping: undefined, mustBeObject: false }

export default Object.fromEntries(
  [1, 15, 200].map((lines) => {
    const bytes = Buffer.from(
      JSON.stringify({ lines: Array.from({ length: lines }, () => ({ id: 12, text: 'x'.repeat(80) })) }),
    )
    const reader = new JsonBodyReader(OPTIONS)
    const other = Buffer.from(bytes.toString().replace('12', '13'))
    const copy = Buffer.from(bytes)
    let turn = false
    const isTurn = (): boolean => (turn = !turn)
    return [
      `a body of ${bytes.length} bytes`,
      {
        'the same as before': () => reader.read(isTurn() ? bytes : copy),
        'another each time': () => reader.read(isTurn() ? bytes : other),
        'parsed and written again': () => JSON.stringify(JSON.parse(bytes.toString())),
      },
    ]
  }),
)
