import Fastify, { type FastifyInstance } from 'fastify'

/** Below this number, primes are counted by division: some 5 ms of a core of today. */
const PRIMES_BELOW = 100_000
/** Milliseconds. */
const BLOCKED = 50

/** An app that answers at once, that has work to do, and that has its event loop stand still. */
export default function app(): FastifyInstance {
  // A request that comes in while closing is answered; by default Fastify refuses it with a 503.
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
