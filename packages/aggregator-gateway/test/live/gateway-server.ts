// A gateway in a process of its own, that tells its parent what is left after a garbage collection: run it with
// --expose-gc. UPSTREAMS are origins.

import { createAggregatorGateway } from '../../src/index.ts'

const origins = process.env['UPSTREAMS']!.split(',')
const upstreams = Object.fromEntries(
  origins.map((origin, index) => [
    `u${index}`,
    { origin, connections: Number(process.env['CONNECTIONS'] ?? 64), queue: Number(process.env['QUEUE'] ?? 256) },
  ]),
)
/** Milliseconds: a busy machine may stand still for a second. */
const TIMEOUT = 2000

const names = Object.keys(upstreams)
const last = names.at(-1)!

const app = await createAggregatorGateway({
  fastify: { forceCloseConnections: true },
  upstreams,
  endpoints: [
    // One endpoint for each upstream, one that asks all, and the last may be missing.
    ...names.map((name) => ({
      path: `/one/${name}`,
      timeout: TIMEOUT,
      calls: { it: { upstream: name, path: '/small', retry: 1, hedge: true } },
    })),
    {
      path: '/all/*',
      timeout: TIMEOUT,
      coalesce: false,
      calls: Object.fromEntries(
        names.map((name) => [name, { upstream: name, path: '/small', optional: name === last, retry: 1 }]),
      ),
    },
    {
      path: '/chain',
      calls: {
        first: { upstream: names[0]!, path: '/small' },
        second: { upstream: names[0]!, path: '/counted?of={calls.first.account}' },
      },
    },
    {
      path: '/slow',
      calls: { one: { upstream: names[0]!, path: '/small/20' }, two: { upstream: names[0]!, path: '/small' } },
    },
    { path: '/late', timeout: 20, calls: { one: { upstream: names[0]!, path: '/small/1000' } } },
    { path: '/large', coalesce: true, calls: { one: { upstream: names[0]!, path: '/large' } } },
    {
      path: '/missing',
      timeout: 50,
      allowAllFailed: true,
      calls: Object.fromEntries(
        ['hang', 'reset', 'broken', 'invalid'].map((path) => [
          path,
          { upstream: last, path: `/${path}`, optional: true, retry: 1, hedge: 10 },
        ]),
      ),
    },
    {
      path: '/failing',
      timeout: 50,
      calls: { one: { upstream: last, path: '/invalid' }, two: { upstream: last, path: '/hang' } },
    },
  ],
})
await app.listen({ port: 0, host: '127.0.0.1' })

export interface Remains {
  /** Bytes. */
  heap: number
  /** The most bytes that the process has had. */
  peak: number
  /** Open sockets, servers and pipes. */
  sockets: number
  timers: number
}

process.on('message', () => {
  globalThis.gc?.()
  const resources = process.getActiveResourcesInfo()
  const timers = resources.filter((kind) => kind === 'Timeout').length
  const remains: Remains = {
    heap: process.memoryUsage().heapUsed,
    peak: process.resourceUsage().maxRSS * 1024,
    sockets: resources.length - timers,
    timers,
  }
  process.send!(remains)
})
process.send!(app.server.address())
