import { deserialize, serialize } from 'node:v8'
import { decode, encode } from '../src/ipc/messages.ts'

// Decides the `serialization` of the channel to workers: a socket handover is one small message for each connection.

export default {
  'as JSON': () => decode(JSON.parse(JSON.stringify(encode({ type: 'connection', idleMs: 1234.567 })))),
  "by V8's serializer, as with `serialization: 'advanced'`": () =>
    decode(deserialize(serialize(encode({ type: 'connection', idleMs: 1234.567 })))),
}
