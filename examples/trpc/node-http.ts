import { createServer, type ServerResponse } from 'node:http'
import { closeOnSignal } from '@examples/close-on-signal'
import { article } from './content.ts'

const host = process.env.HOST ?? '127.0.0.1'
const port = Number(process.env.PORT ?? 0)

const server = createServer((request, response) => {
  const { method, url } = request
  if (method === 'GET' && url === '/trpc/hello') send(response, { hello: 'world' })
  else if (method === 'GET' && url === '/trpc/article') send(response, article)
  else response.writeHead(404).end()
})

/** Adds the envelope of tRPC, so that the responses are the same. */
function send(response: ServerResponse, data: unknown): void {
  const body = JSON.stringify({ result: { data } })
  response.writeHead(200, { 'content-type': 'application/json', 'content-length': Buffer.byteLength(body) })
  response.end(body)
}

closeOnSignal(server, () => server.close())

server.listen(port, host, () => {
  console.log('Listening on', server.address())
})
