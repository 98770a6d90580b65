import { appendFileSync } from 'node:fs'
import { once } from 'node:events'
import { createServer, type Server } from 'node:http'
import { createServer as createTcpServer } from 'node:net'
import { setTimeout as sleep } from 'node:timers/promises'
import { runOnOneWorker } from '../../src/index.ts'

/** Has a port for itself, as long as it is the only one, and says in a file when it has and has no longer. */
export default function onlyOne(): Server {
  runOnOneWorker(async (signal) => {
    const lock = createTcpServer((socket) => socket.end(String(process.pid)))
    // Where another one has it, this throws, and says so by the end of the process.
    lock.listen(Number(process.env['LOCK_PORT']), '127.0.0.1')
    await once(lock, 'listening')
    appendFileSync(process.env['LOG']!, `start ${process.pid}\n`)
    if (!signal.aborted) await once(signal, 'abort')
    // It has something to finish.
    await sleep(50)
    lock.close()
    await once(lock, 'close')
    appendFileSync(process.env['LOG']!, `end ${process.pid}\n`)
  })
  return createServer((_request, response) => {
    response.end(String(process.pid))
  })
}
