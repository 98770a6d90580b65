import { expect, it } from 'vitest'
import type { WorkerName } from '../../src/index.ts'
import { settled, startServer } from '../helpers/running-server.ts'

it('emits workerStart for each process, also after a reload', async () => {
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
