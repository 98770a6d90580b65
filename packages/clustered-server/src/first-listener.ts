import { subscribe, unsubscribe } from 'node:diagnostics_channel'
import type { Server } from 'node:net'

const CHANNEL = 'tracing:net.server.listen:asyncStart'

/**
 * Tells of the first server that listens on a port by itself, just before it does, and has it listen on a socket that is
 * there instead, if there is one. Gives what ends that.
 */
export function onFirstListener(port: number, fd: number | undefined, found: (server: Server) => void): () => void {
  let isFound = false
  const onListen = (message: unknown): void => {
    const { server, options } = message as { server: Server; options: { port?: unknown; fd?: number } }
    if (isFound || Number(options.port) !== port) return
    isFound = true
    found(server)
    if (fd !== undefined) options.fd = fd
  }
  subscribe(CHANNEL, onListen)
  return () => unsubscribe(CHANNEL, onListen)
}
