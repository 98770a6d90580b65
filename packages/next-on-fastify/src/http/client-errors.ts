// Responds to requests that Node cannot parse, such as a URL with raw non-ASCII bytes, as Node's own server and so `next
// start` do: without a body, which a client would take for the next response after HEAD.

import { type ServerResponse, STATUS_CODES } from 'node:http'
import type { Socket } from 'node:net'

/** Statuses by the code of Node's error. */
const STATUSES: Readonly<Record<string, number>> = {
  ERR_HTTP_REQUEST_TIMEOUT: 408,
  HPE_CHUNK_EXTENSIONS_OVERFLOW: 413,
  HPE_HEADER_OVERFLOW: 431,
}

/** The response that a socket is used for. Node has no public property for it. */
interface InUse {
  readonly _httpMessage?: ServerResponse | null
}

/**
 * Option `clientErrorHandler` for `Fastify()`. Requests that Node cannot parse then get the response of `next start`.
 * {@link createNextOnFastify} sets it.
 *
 * @example
 * const app = Fastify({ rewriteUrl: routableUrl, clientErrorHandler: bareClientError })
 */
export function bareClientError(error: Readonly<NodeJS.ErrnoException>, socket: Socket): void {
  // A response that has begun would be mixed with this one.
  const hasBegun = (socket as InUse)._httpMessage?.headersSent === true
  if (error.code !== 'ECONNRESET' && socket.writable && !hasBegun) {
    const status = STATUSES[error.code ?? ''] ?? 400
    socket.write(`HTTP/1.1 ${status} ${STATUS_CODES[status]}\r\nConnection: close\r\n\r\n`)
  }
  socket.destroy()
}
