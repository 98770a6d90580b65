import type { Connect, RepeatedRequest } from './connection.ts'
import { Http1Connection } from './http1-connection.ts'
import { Http2Connection } from './http2-connection.ts'
import { WebSocketConnection } from './websocket-connection.ts'

/** Opens connections for a request, by its protocol. */
export function connectTo(request: RepeatedRequest): Connect {
  if (request.protocol === 'http2') return () => new Http2Connection(request)
  if (request.protocol === 'websocket') return () => new WebSocketConnection(request)
  return () => new Http1Connection(request)
}

/** Sends one request over a connection of its own, and returns the status of its response. */
export async function sendOnce(request: RepeatedRequest, signal: AbortSignal): Promise<number> {
  signal.throwIfAborted()
  const { promise, resolve, reject } = Promise.withResolvers<number>()
  const onAbort = (): void => reject(signal.reason as Error)
  signal.addEventListener('abort', onAbort, { once: true })
  const connection = connectTo(request)()
  connection.send((outcome) => (typeof outcome === 'number' ? resolve(outcome) : reject(outcome)))
  return promise.finally(() => {
    signal.removeEventListener('abort', onAbort)
    connection.close()
  })
}
