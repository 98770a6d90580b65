// Carries the addresses of a client to the worker of another build, where the connection comes from a worker.

import type { IncomingMessage } from 'node:http'
import type { Socket } from 'node:net'

const NAME = 'x-clustered-server-client'
/** Properties of a socket by which apps recognize a client. */
const PROPERTIES = ['remoteAddress', 'remotePort', 'remoteFamily', 'localAddress', 'localPort', 'localFamily'] as const

/** Whether a header has the name of the one here. A client must not choose its value. */
export function isClientHeader(name: string): boolean {
  return name === NAME
}

/** The first header of a forwarded request: its name and its value. */
export function encodeClient(socket: Socket): [name: string, value: string] {
  const client = Object.fromEntries(PROPERTIES.map((name) => [name, socket[name]]))
  return [NAME, JSON.stringify({ ...client, ...('encrypted' in socket && { encrypted: true }) })]
}

/**
 * Gives the socket of a forwarded request the addresses of the client, and removes the header. Returns false for a request
 * that was not forwarded.
 */
export function restoreClient({ headers, rawHeaders, socket }: IncomingMessage): boolean {
  if (rawHeaders[0] !== NAME) return false
  const [, value = '{}'] = rawHeaders.splice(0, 2)
  delete headers[NAME]
  for (const [name, own] of Object.entries(JSON.parse(value) as object))
    Object.defineProperty(socket, name, { value: own, configurable: true })
  return true
}
