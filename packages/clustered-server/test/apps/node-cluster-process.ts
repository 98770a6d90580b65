// `node:cluster` with a reload as recipes have it: a new worker is forked, and when it listens the old one is
// disconnected, and killed if it is still there after two seconds, as in Node's documentation.

import cluster from 'node:cluster'
import { once } from 'node:events'

const { WORKERS = '2' } = process.env
const PATIENCE = 2000

if (cluster.isPrimary) {
  for (let worker = 0; worker < Number(WORKERS); worker++) cluster.fork()
  process.on('SIGHUP', async () => {
    for (const old of Object.values(cluster.workers ?? {})) {
      const fresh = cluster.fork()
      await once(fresh, 'listening')
      const exited = once(old!, 'exit')
      old!.disconnect()
      const timer = setTimeout(() => old!.kill(), PATIENCE)
      await exited
      clearTimeout(timer)
    }
    process.stdout.write('reloaded\n')
  })
} else await import('./single-process.ts')
