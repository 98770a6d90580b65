import { createServer, type ServerResponse } from 'node:http'
import { parse } from 'node:querystring'
import { closeOnSignal } from '@examples/close-on-signal'
import { order } from './order.ts'

const host = process.env.HOST ?? '127.0.0.1'
const port = Number(process.env.PORT ?? 0)

const server = createServer((request, response) => {
  const { method, url = '/' } = request
  // Not `new URL(url)`, which throws on targets such as `//`.
  const queryStart = url.indexOf('?')
  const path = queryStart === -1 ? url : url.slice(0, queryStart)

  if (method !== 'GET' && method !== 'HEAD') {
    send(response, 404, 'text/plain; charset=utf-8', 'Not Found')
  } else if (path === '/api') {
    const { name = '', lastname = '' } = queryStart === -1 ? {} : parse(url.slice(queryStart + 1))
    send(response, 200, 'text/plain; charset=utf-8', [name, lastname].join(' '))
  } else if (path === '/') {
    send(response, 200, 'text/plain; charset=utf-8', 'Hello World!')
  } else if (path === '/json') {
    send(response, 200, 'application/json; charset=utf-8', JSON.stringify(order))
  } else {
    send(response, 404, 'text/plain; charset=utf-8', 'Not Found')
  }
})

function send(response: ServerResponse, status: number, type: string, body: string): void {
  response.writeHead(status, { 'content-type': type, 'content-length': Buffer.byteLength(body) })
  response.end(body)
}

closeOnSignal(server, () => server.close())

server.listen(port, host, () => {
  console.log('Listening on', server.address())
})
