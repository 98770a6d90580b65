import { createServer, type Server } from 'node:http'
import { answer } from './faults.ts'

/** Lets connections rest for as long as a test may take. */
export default function patient(): Server {
  return createServer({ keepAliveTimeout: 300_000 }, (request, response) => void answer(request, response))
}
