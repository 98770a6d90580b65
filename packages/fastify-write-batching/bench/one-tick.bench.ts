import { Duplex } from 'node:stream'
import { batchConnection } from '../src/batched-connection.ts'
import { createWriteBatch } from '../src/write-batch.ts'

/** A connection as Node's HTTP server has it. Its writes cost nothing. */
function connection(): Duplex {
  const socket = new Duplex({ read() {}, write: (_chunk, _encoding, done) => done() })
  return Object.assign(socket, { parser: {} })
}

/** What Node does with the socket of a response. */
function respond(socket: Duplex): void {
  socket.cork()
  socket.write('HTTP/1.1 200 OK\r\ncontent-length: 0\r\n\r\n', 'latin1')
  socket.uncork()
}

const nextTick = (): Promise<void> => new Promise((resolve) => setImmediate(resolve))

const plain = Array.from({ length: 30 }, connection)
const batched = Array.from({ length: 30 }, connection)
const batch = createWriteBatch()
for (const socket of batched) batchConnection(socket, batch)

/** A tick of 30 responses. */
export default {
  'one after the other': async () => {
    for (const socket of plain) respond(socket)
    await nextTick()
  },
  together: async () => {
    for (const socket of batched) respond(socket)
    await nextTick()
  },
}
