import type { Server } from 'node:http'

/**
 * On SIGINT or SIGTERM the server takes no more connections, answers the requests it has, and closes
 * idle connections. The process then ends by itself with code 0, as nothing is left to do.
 */
export function closeOnSignal(server: Server, close: () => unknown): void {
  const stop = (): void => {
    // `close` ends the connections that are idle now. One whose request is still coming in goes with
    // its answer,
    server.prependListener('request', (_request, response) => {
      response.setHeader('connection', 'close')
    })
    // one that waits for its answer goes soon after it,
    server.keepAliveTimeout = 1
    // and the rest goes after 5 seconds: to Node, a connection that never said a word is not idle.
    setTimeout(() => server.closeAllConnections(), 5000).unref()
    close()
  }
  process.once('SIGINT', stop)
  process.once('SIGTERM', stop)
}
