import { setTimeout as wait } from 'node:timers/promises'
import { expect, it } from 'vitest'
import { connectTo, mixed, startFaultLoad } from '../helpers/fault-load.ts'
import { settled, startServer } from '../helpers/running-server.ts'

const times = Number(process.env['RELOADS'] ?? 5)

it('scale() loses no request and closes no connection', { timeout: 600_000 }, async () => {
  const server = await startServer('faults.ts')
  const active = (): number => server.status().workers.filter(({ state }) => state === 'active').length
  const load = startFaultLoad({ connect: connectTo(server.port), clients: mixed })
  for (let time = 0; time < times; time++) {
    await server.scale(4)
    expect(active()).toBe(4)
    await wait(Math.random() * 300)
    await server.scale(1)
    expect(active()).toBe(1)
    await wait(Math.random() * 300)
  }
  const report = await load.stop()
  expect(report).toMatchObject({ notes: [], failed: 0, announced: 0, unannounced: 0, reconnected: [], unserved: [] })
  // One is in reserve again.
  await settled(server, 1)
})
