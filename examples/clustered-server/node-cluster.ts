import cluster, { type Worker } from 'node:cluster'
import { availableParallelism } from 'node:os'
import makeApp from './app.ts'
import { closeOnSignal } from '@examples/close-on-signal'

const host = process.env.HOST ?? '127.0.0.1'
const port = Number(process.env.PORT ?? 0)
const { WORKERS = 'auto' } = process.env
const workers = WORKERS === 'auto' ? availableParallelism() : Number(WORKERS)

if (cluster.isPrimary) {
  for (let worker = 0; worker < workers; worker++) cluster.fork()
  // The documentation ends here. Like each server in this folder, this one ends on a signal with 0, and fails when its port
  // is in use.
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
    // A signal before this point would end the worker during a response of the primary, which would make the primary fail.
    if (isStopping) worker.process.kill('SIGTERM')
  })
  process.once('SIGINT', stop)
  process.once('SIGTERM', stop)
} else {
  const app = makeApp()
  closeOnSignal(app.server, async () => {
    await app.close()
    cluster.worker?.disconnect()
  })
  await app.listen({ host, port })
  console.log('Listening on', app.server.address())
}
