// A plain server that works for SPIN microseconds before each response.

import { createServer } from 'node:http'

const spin = Number(process.env['SPIN']) / 1000

const server = createServer((_request, response) => {
  const end = performance.now() + spin
  while (performance.now() < end);
  response.setHeader('content-type', 'text/plain; charset=utf-8')
  response.end('hello')
})
server.listen(Number(process.env['PORT']), process.env['HOST'])
process.once('SIGTERM', () => {
  server.close()
  server.closeAllConnections()
})
