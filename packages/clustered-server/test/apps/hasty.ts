import { createServer, type Server } from 'node:http'
import { answer } from './faults.ts'

/** Has little patience with connections that do not ask, and much with those that have asked. */
export default function hasty(): Server {
  const options = { headersTimeout: 400, connectionsCheckingInterval: 100, keepAliveTimeout: 60_000 }
  return createServer(options, (request, response) => void answer(request, response))
}
