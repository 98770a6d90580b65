import { createServer, type Server } from 'node:http'
import { Counter, Registry } from 'prom-client'

/** What it counts is not in the registry that all of a process share. */
export const metrics: Registry = new Registry()
const answers = new Counter({ name: 'own_answers_total', help: 'Answers.', registers: [metrics] })

export default function ownRegistry(): Server {
  return createServer((_request, response) => {
    answers.inc()
    response.end('ok')
  })
}
