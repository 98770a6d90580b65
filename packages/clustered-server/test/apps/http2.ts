import type { IncomingMessage, ServerResponse } from 'node:http'
import { createSecureServer, type Http2SecureServer } from 'node:http2'
import { answer } from './faults.ts'

/** A server of `node:http2`. */
export default function http2(): Http2SecureServer {
  const { TLS_KEY: key, TLS_CERTIFICATE: cert } = process.env
  return createSecureServer({ key, cert, allowHTTP1: true }, (request, response) => {
    // As far as it is used, both are the same.
    void answer(request as unknown as IncomingMessage, response as unknown as ServerResponse)
  })
}
