import { createServer } from 'node:http'
import { dir, fail, host, next, port } from './app.ts'
import { closeOnSignal } from '@examples/close-on-signal'

const app = next({ dir, dev: false, hostname: host, port })
await app.prepare()
const handle = app.getRequestHandler()

const server = createServer((request, response) => {
  void handle(request, response)
})

closeOnSignal(server, () => server.close(() => void app.close()))

server.on('error', fail)
server.listen(port, host, () => {
  console.log('Listening on', server.address())
})
