// What is asked of a server while it does something else.

import { setTimeout as wait } from 'node:timers/promises'
import { expect, it } from 'vitest'
import { connectTo, mixed, startFaultLoad } from '../helpers/fault-load.ts'
import { isAlive, settled, startServer } from '../helpers/running-server.ts'

it('runs reloads and scale() one after another', { timeout: 300_000 }, async () => {
  const server = await startServer('faults.ts')
  const load = startFaultLoad({ connect: connectTo(server.port), clients: mixed })
  await Promise.all([server.reload(), server.reload(), server.scale(3), server.reload(), server.scale(2)])
  expect(server.status().generation).toBe(4)
  await settled(server)
  expect(new Set(server.status().workers.map(({ generation }) => generation))).toEqual(new Set([4]))
  const report = await load.stop()
  expect(report).toMatchObject({ notes: [], failed: 0, announced: 0, unannounced: 0, reconnected: [], unserved: [] })
})

it.each([0, 1, 100, 300, 600, 900])('leaves no process when closed %i ms after a reload began', async (time) => {
  const server = await startServer('faults.ts')
  const pids: number[] = server.status().workers.map(({ pid }) => pid!)
  server.on('workerStart', ({ pid }) => pids.push(pid!))
  const reload = server.reload().then(
    () => 'reloaded',
    ({ code }: { code: string }) => code,
  )
  const scale = server.scale(4).then(
    () => 'scaled',
    ({ code }: { code: string }) => code,
  )
  await wait(time)
  await server.close()
  expect(['reloaded', 'CLUSTERED_SERVER_CLOSED']).toContain(await reload)
  expect(['scaled', 'CLUSTERED_SERVER_CLOSED']).toContain(await scale)
  await expect(server.reload()).rejects.toMatchObject({ code: 'CLUSTERED_SERVER_CLOSED' })
  await wait(200)
  expect(pids.filter(isAlive)).toEqual([])
})

it.each(['active', 'standby'] as const)(
  'a reload goes on when a worker dies in it: %s',
  { timeout: 120_000 },
  async (state) => {
    const server = await startServer('faults.ts')
    await settled(server)
    const victim = server.status().workers.findLast((worker) => worker.state === state)!
    const reload = server.reload()
    await wait(100)
    process.kill(victim.pid!, 'SIGKILL')
    await reload
    await settled(server)
    expect(new Set(server.status().workers.map(({ generation }) => generation))).toEqual(new Set([2]))
  },
)

it('a second server cannot start on the port, and the first keeps running', async () => {
  const server = await startServer('faults.ts')
  await expect(startServer('faults.ts', { port: server.port })).rejects.toMatchObject({
    code: 'CLUSTERED_SERVER_CANNOT_LISTEN',
  })
  const failing = startServer('version.ts', { env: { VERSION: 'throws' } })
  await expect(failing).rejects.toMatchObject({ code: 'CLUSTERED_SERVER_START_FAILED' })
  const load = startFaultLoad({ connect: connectTo(server.port), clients: { busy: 1 } })
  await wait(100)
  expect(await load.stop()).toMatchObject({ failed: 0, unserved: [] })
})
