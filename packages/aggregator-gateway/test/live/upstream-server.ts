// An upstream in a process of its own. It answers by what its paths say, and can be told to hang and to work again.

import { createServer } from 'node:http'
import { setTimeout as sleep } from 'node:timers/promises'

const BODIES: Readonly<Record<string, string>> = {
  '/small': '{"name":"world","account":7}',
  '/large': JSON.stringify({ lines: Array.from({ length: 200 }, () => 'x'.repeat(100)) }),
  '/invalid': '{"name":',
}
/** What each process answers anew, so that nothing is memoised. */
let count = 0
let hangs = false

const server = createServer({ keepAliveTimeout: 60_000 }, async (request, response) => {
  const [, path, delay] = /^(\/[a-z]+)(?:\/(\d+))?/.exec(request.url!)!
  if (hangs || path === '/hang') return
  if (delay !== undefined) await sleep(Number(delay))
  if (path === '/reset') {
    request.socket.destroy()
    return
  }
  if (path === '/broken') {
    response.writeHead(503).end()
    return
  }
  const body = BODIES[path!] ?? `{"count":${count++}}`
  response.writeHead(200, { 'content-type': 'application/json', 'content-length': Buffer.byteLength(body) }).end(body)
})
process.on('message', (told) => {
  hangs = told === 'hang'
  process.send!('told')
})
server.listen(Number(process.env['PORT'] ?? 0), '127.0.0.1', () => {
  process.send!(server.address())
})
