import type { Server } from 'node:http'

/** How long a connection that never sent a byte may stay, in milliseconds. To Node, it is not idle. */
const SILENT_CONNECTIONS = 5000

/**
 * On SIGINT or SIGTERM the server stops accepting connections, finishes its requests and closes idle connections. The process
 * then exits by itself with code 0, because nothing is left to do.
 */
export function closeOnSignal(server: Server, close: () => unknown): void {
  const stop = (): void => {
    // A connection whose request is still arriving is closed with its response.
    server.prependListener('request', (_request, response) => {
      response.setHeader('connection', 'close')
    })
    // A connection that waits for its response is closed soon after it.
    server.keepAliveTimeout = 1
    setTimeout(() => server.closeAllConnections(), SILENT_CONNECTIONS).unref()
    // It closes the connections that are idle now.
    close()
  }
  process.once('SIGINT', stop)
  process.once('SIGTERM', stop)
}
