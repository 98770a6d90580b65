import { once } from 'node:events'
import { expect, it } from 'vitest'
import type { ClusteredServer, ClusteredServerOptions, WorkerName } from '../../src/index.ts'
import { settled, startServer } from '../helpers/running-server.ts'

it('the hooks are called for each process, once when all take connections, and when all have ended', async () => {
  const calls: string[] = []
  let given: ClusteredServer | undefined
  const started: WorkerName[] = []
  const server = await startServer('hello.ts', {
    onWorkerStart: (worker) => void started.push(worker),
    onReady: async (ready) => {
      given = ready
      calls.push(ready.status().ready ? 'ready' : 'not ready')
    },
    onShutdown: () => void calls.push('shutdown'),
  })
  expect(given).toBe(server)
  await settled(server)
  const workers = server.status().workers.map(({ id, pid, generation }) => ({ id, pid, generation }))
  expect(started).toEqual(workers)
  await server.reload()
  await settled(server)
  expect(started.slice(3).map(({ generation }) => generation)).toEqual([2, 2, 2])
  await server.close()
  expect(calls).toEqual(['ready', 'shutdown'])
})

it('in one process no worker is started, and the other hooks are called', async () => {
  const calls: string[] = []
  const server = await startServer('hello.ts', {
    workers: 1,
    onWorkerStart: () => void calls.push('start'),
    onReady: ({ port }) => void calls.push(port > 0 ? 'ready' : 'no port'),
    onShutdown: () => void calls.push('shutdown'),
  })
  await server.close()
  expect(calls).toEqual(['ready', 'shutdown'])
})

it('a hook that throws or rejects is logged and told, and the server goes on', async () => {
  const failure = new Error('the register is not there')
  const logged: [object, string][] = []
  const logger = { info: () => {}, warn: () => {}, error: (...said: [object, string]) => void logged.push(said) }
  const options: ClusteredServerOptions = {
    logger,
    onWorkerStart: () => {
      throw failure
    },
    onReady: () => Promise.reject(failure),
  }
  const server = await startServer('hello.ts', options)
  const told = once(server, 'hookFailed')
  expect(logged.filter(([, message]) => message === 'onWorkerStart failed, the server goes on').length).toBeGreaterThan(
    1,
  )
  await expect
    .poll(() => logged)
    .toContainEqual([{ err: failure, hook: 'onReady' }, 'onReady failed, the server goes on'])
  const response = await fetch(`http://127.0.0.1:${server.port}`)
  expect(response.status).toBe(200)
  await server.reload()
  await expect(told).resolves.toEqual([{ hook: 'onWorkerStart', error: failure }])
})
