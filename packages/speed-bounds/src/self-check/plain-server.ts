// The default server of `speed-bounds self-check`.

import { createServer } from 'node:http'

const server = createServer((_request, response) => {
  response.setHeader('content-type', 'text/plain; charset=utf-8')
  response.end('ok')
})
server.listen(Number(process.env['PORT'] ?? 0), process.env['HOST'])
process.once('SIGTERM', () => {
  server.close()
  server.closeAllConnections()
})
