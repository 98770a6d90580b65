import { deserialize, serialize } from 'node:v8'
import { test } from 'vitest'
import { opened, sealed } from '../src/ipc/messages.ts'

// Decides the `serialization` of the channel to workers: a socket handover is one small message for each connection.

test('the message of a socket handover, written and read', async ({ bench }) => {
  await bench.compare(
    bench('as JSON', () => {
      opened(JSON.parse(JSON.stringify(sealed({ type: 'connection', rested: 1234.567 }))))
    }),
    bench("by V8's serializer, as with `serialization: 'advanced'`", () => {
      opened(deserialize(serialize(sealed({ type: 'connection', rested: 1234.567 }))))
    }),
  )
})
