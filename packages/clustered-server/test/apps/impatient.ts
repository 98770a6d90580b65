import { createServer, type Server } from 'node:http'
import { answer } from './faults.ts'

/** Closes connections soon that have asked and rest. */
export default function impatient(): Server {
  return createServer({ keepAliveTimeout: 1000 }, (request, response) => void answer(request, response))
}
