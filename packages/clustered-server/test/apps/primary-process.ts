// A primary that obeys what it reads: `reload`, `close`. Says where it listens, and who its workers are.

import { createInterface } from 'node:readline'
import { createClusteredServer } from '../../src/index.ts'

const { APP = 'faults.ts', WORKERS = '2' } = process.env
const server = await createClusteredServer(new URL(APP, import.meta.url), {
  workers: Number(WORKERS),
  port: 0,
  host: '127.0.0.1',
  // Where much else runs, a worker may not run for a second without standing still.
  heartbeatTimeout: 10_000,
})
// So that a test that fails says why.
server.on('workerStuck', (worker) => console.error('stuck', worker))
server.on('workerExit', (worker) => worker.expected || console.error('died', worker))
const say = (what: unknown): boolean => process.stdout.write(`${JSON.stringify(what)}\n`)
while (server.status().workers.some(({ state }) => state === 'starting'))
  await new Promise((resolve) => setTimeout(resolve, 20))
say({ port: server.port, workers: server.status().workers.map(({ pid }) => pid) })
for await (const line of createInterface({ input: process.stdin })) {
  if (line === 'reload')
    await server.reload().then(
      () => say('reloaded'),
      (error: Error) => say(error.message),
    )
}
