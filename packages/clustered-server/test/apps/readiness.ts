import { createServer as createHttpServer, type RequestListener } from 'node:http'
import {
  createSecureServer,
  createServer as createHttp2Server,
  type Http2ServerRequest,
  type Http2ServerResponse,
} from 'node:http2'
import { createServer as createHttpsServer } from 'node:https'
import type { Server } from 'node:net'

/** As far as it is used here, both are the same. */
type OnHttp2Request = (request: Http2ServerRequest, response: Http2ServerResponse) => void

/** Of all kinds of servers; what it says of `/ready` its environment tells. */
export default function readiness(): Server {
  const { KIND, READY, TLS_KEY: key, TLS_CERTIFICATE: cert } = process.env
  let asked = 0
  const listener: RequestListener = ({ url }, response) => {
    if (url === '/ready') {
      asked++
      if (READY === 'silence') return
      if (READY === 'the end') process.exit(5)
      if (READY === 'cut') response.socket!.destroy()
      if (READY !== 'cut') response.statusCode = Number(READY)
    }
    response.end(JSON.stringify({ pid: process.pid, asked }))
  }
  const onStream = listener as unknown as OnHttp2Request
  switch (KIND) {
    case 'https':
      return createHttpsServer({ key, cert }, listener)
    case 'http2':
      return createHttp2Server(onStream)
    case 'secure http2':
      return createSecureServer({ key, cert }, onStream)
    case 'secure http2 and http':
      return createSecureServer({ key, cert, allowHTTP1: true }, onStream)
    case 'listens by itself':
      return createHttpServer(listener).listen(Number(process.env['PORT']), '127.0.0.1')
    default:
      return createHttpServer(listener)
  }
}
