// Tells Next where its server listens. After a server action that redirects, Next fetches the new page from there.

import { Server } from 'node:http'
import { isIPv6 } from 'node:net'
import type { FastifyInstance } from 'fastify'

/** The variable that `next start` sets. Without it, Next takes its options `hostname` and `port`. */
const ORIGIN = '__NEXT_PRIVATE_ORIGIN'

/** Tells Next the address of the server as soon as it listens. Only of plain HTTP: certificates do not name an address. */
export function tellOwnOrigin({ server }: FastifyInstance): void {
  if (!(server instanceof Server)) return
  let told: string | undefined
  server.on('listening', () => {
    told = originOf(server)
    if (told !== undefined) process.env[ORIGIN] = told
  })
  server.once('close', () => {
    // Another server of the process may have told its own.
    if (process.env[ORIGIN] === told) delete process.env[ORIGIN]
  })
}

function originOf(server: Server): string | undefined {
  const address = server.address()
  // A UNIX socket has no origin.
  if (address === null || typeof address === 'string') return undefined
  const host = isIPv6(address.address) ? `[${address.address}]` : address.address
  return `http://${host}:${address.port}`
}
