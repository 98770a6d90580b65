import Fastify, { type FastifyInstance } from 'fastify'

/** Primes below this number are counted by division, which takes about 5 ms. */
const PRIMES_BELOW = 100_000
/** Milliseconds. */
const BLOCKED = 50

/** An app with a fast route, a route with CPU work, and a route that blocks the event loop. */
export default function app(): FastifyInstance {
  // Requests during the shutdown are served; by default Fastify responds 503.
  const server = Fastify({ return503OnClosing: false })
  server.get('/', async () => ({ hello: 'world' }))
  server.get('/primes', async () => ({ below: PRIMES_BELOW, primes: primesBelow(PRIMES_BELOW) }))
  server.get('/pid', async () => ({ pid: process.pid }))
  server.get('/blocking', async () => {
    const end = performance.now() + BLOCKED
    while (performance.now() < end);
    return { blocked: BLOCKED }
  })
  return server
}

function primesBelow(end: number): number {
  let count = 0
  for (let number = 2; number < end; number++) if (isPrime(number)) count++
  return count
}

function isPrime(number: number): boolean {
  for (let divisor = 2; divisor * divisor <= number; divisor++) if (number % divisor === 0) return false
  return true
}
