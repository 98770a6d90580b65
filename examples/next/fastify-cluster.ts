// `fastify-custom.ts` in several processes, by `node:cluster` as recipes have it.

import cluster, { type Worker } from 'node:cluster'
import { availableParallelism } from 'node:os'

const { WORKERS = 'auto' } = process.env
const workers = WORKERS === 'auto' ? availableParallelism() : Number(WORKERS)

if (cluster.isPrimary) {
  for (let worker = 0; worker < workers; worker++) cluster.fork()
  // Recipes end here. The rest is what every server in this folder does: it ends on a signal with 0, and fails when its
  // port is taken.
  cluster.on('exit', (_worker, code) => {
    if (code > 0) process.exitCode = code
  })
  const listening = new Set<Worker>()
  let isStopping = false
  const stop = (): void => {
    isStopping = true
    for (const worker of listening) worker.process.kill('SIGTERM')
  }
  cluster.on('listening', (worker) => {
    listening.add(worker)
    // A worker that is still starting gets the signal once it listens.
    if (isStopping) worker.process.kill('SIGTERM')
  })
  process.once('SIGINT', stop)
  process.once('SIGTERM', stop)
} else {
  // The channel to the primary keeps the worker alive.
  process.once('SIGTERM', () => cluster.worker?.disconnect())
  await import('./fastify-custom.ts')
}
