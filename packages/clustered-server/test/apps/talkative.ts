import Fastify, { type FastifyInstance } from 'fastify'

/** Writes in all the ways that apps do, for each request. */
export default function talkative(): FastifyInstance {
  // It writes to the descriptor, and not to process.stdout.
  const app = Fastify({ logger: true })
  app.get('/', () => {
    console.log('console.log')
    console.error('console.error')
    process.stdout.write('process.stdout\n')
    process.stderr.write('process.stderr\n')
    return String(process.pid)
  })
  return app
}
