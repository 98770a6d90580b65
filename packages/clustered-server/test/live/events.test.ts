import { once } from 'node:events'
import { expect, it } from 'vitest'
import type { WorkerName } from '../../src/index.ts'
import { settled, startServer } from '../helpers/running-server.ts'

it('emits workerStart for each process of a reload', async () => {
  const server = await startServer('hello.ts', {})
  await settled(server)
  const started: WorkerName[] = []
  server.on('workerStart', (worker) => void started.push(worker))
  await server.reload()
  await settled(server)
  expect(started.map(({ generation }) => generation)).toEqual([2, 2, 2])
  const workers = server.status().workers.map(({ id, pid, generation }) => ({ id, pid, generation }))
  expect(started).toEqual(workers)
})

it.each([1, 2])('waits for onShutdown before close() resolves, with %i workers', async (workers) => {
  const calls: string[] = []
  const server = await startServer('hello.ts', {
    workers,
    onShutdown: async () => {
      await new Promise((resolve) => setTimeout(resolve, 20))
      calls.push('onShutdown')
    },
  })
  server.once('closed', () => void calls.push('closed'))
  await server.close()
  expect(calls).toEqual(['onShutdown', 'closed'])
})

it.each([1, 2])('emits ready to listeners that are added after the start, with %i workers', async (workers) => {
  const server = await startServer('hello.ts', { workers })
  await once(server, 'ready', { signal: AbortSignal.timeout(10_000) })
  expect(server.status().ready).toBe(true)
})

it('does not emit ready for a server that is closed immediately', async () => {
  const server = await startServer('hello.ts', {})
  let ready = 0
  server.on('ready', () => ready++)
  await server.close()
  expect(ready).toBe(0)
})

it('logs listeners that throw or reject, and keeps running', async () => {
  const logged: string[] = []
  const logger = { info: () => {}, warn: () => {}, error: (_about: object, text: string) => void logged.push(text) }
  const server = await startServer('hello.ts', { logger })
  await settled(server)
  server.once('workerStart', () => {
    throw new Error('thrown')
  })
  server.once('reloaded', async () => Promise.reject(new Error('rejected')))
  await server.reload()
  await settled(server)
  expect(logged).toEqual([
    'A listener of the event "workerStart" failed: thrown',
    'A listener of the event "reloaded" failed: rejected',
  ])
  expect((await fetch(`http://127.0.0.1:${server.port}`)).status).toBe(200)
})
