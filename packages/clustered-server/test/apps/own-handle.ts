import { once } from 'node:events'
import { createServer, type Server } from 'node:http'
import type { AddressInfo } from 'node:net'
import faults from './faults.ts'

/** Listens on a socket that it has bound itself, and fails to start when nobody responds there. */
export default async function ownHandle(): Promise<Server> {
  const bound = createServer().listen({ port: 0, host: '127.0.0.1', exclusive: true })
  await once(bound, 'listening')
  const { port } = bound.address() as AddressInfo
  const server = createServer((_request, response) => response.end()).listen(bound)
  await once(server, 'listening')
  bound.on('request', (_request, response) => response.end())
  await fetch(`http://127.0.0.1:${port}`, { headers: { connection: 'close' } })
  return faults()
}
