// An app with a memory in a process of its own, which tells its parent what is left after a garbage collection: run it with
// --expose-gc, and told its folder.

import { setTimeout } from 'node:timers/promises'
import { createNextOnFastify, type NextMemory } from 'next-on-fastify'

export interface Remains {
  /** Bytes of V8's heap. */
  heap: number
  /** Bytes of buffers. */
  buffers: number
  /** Bytes of the process. */
  rss: number
  /** Open sockets, servers and pipes. */
  handles: number
  timers: number
  counts: NextMemory['counts']
  /** Answers that went without Next's router server. */
  direct: number
}

const app = await createNextOnFastify({
  dir: process.argv[2]!,
  dev: false,
  direct: 'all',
  memory: { proxyMemory: true },
})
await app.listen({ port: 0, host: '127.0.0.1' })

process.on('message', async () => {
  // What goes with the first collection may hold buffers, which go with the second.
  for (let time = 0; time < 2; time++) {
    globalThis.gc?.()
    await setTimeout(100)
  }
  const resources = process.getActiveResourcesInfo()
  const timers = resources.filter((kind) => kind === 'Timeout').length
  const { heapUsed, arrayBuffers, rss } = process.memoryUsage()
  const remains: Remains = {
    heap: heapUsed,
    buffers: arrayBuffers,
    rss,
    handles: resources.length - timers,
    timers,
    counts: app.nextMemory.get('')!.counts,
    direct: app.nextDirect.get('')!.counts.direct,
  }
  process.send!(remains)
})
process.send!(app.server.address())
