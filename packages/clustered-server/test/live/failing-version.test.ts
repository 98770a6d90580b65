import { setTimeout as wait } from 'node:timers/promises'
import { expect, it } from 'vitest'
import { connectTo, mixed, startFaultLoad } from '../helpers/fault-load.ts'
import { settled, startServer } from '../helpers/running-server.ts'

it.each([
  ['throws', 'Error: no such table'],
  ['exits', 'its process ended'],
  ['hangs', 'its app was not loaded within 8000 ms'],
  ['blocks', 'its app was not loaded within 8000 ms'],
  ['does not listen', 'it accepted no connections within 8000 ms'],
  ['dies as it listens', 'its process ended'],
])('keeps the old version when the new one %s', async (version, why) => {
  const versions = { VERSION: 'good' }
  const server = await startServer('version.ts', { startTimeout: 8000, env: () => ({ ...versions }) })
  await settled(server)
  const before = server.status().workers.map(({ pid }) => pid)
  const load = startFaultLoad({ connect: connectTo(server.port), clients: mixed })
  versions.VERSION = version
  await expect(server.reload()).rejects.toMatchObject({
    code: 'CLUSTERED_SERVER_RELOAD_FAILED',
    message: expect.stringContaining(why) as string,
  })
  versions.VERSION = 'good'
  // Longer than it takes to start one in its place.
  await wait(500)
  expect(server.status()).toMatchObject({ generation: 1 })
  expect(server.status().workers.map(({ pid }) => pid)).toEqual(before)
  await server.reload()
  expect(
    server
      .status()
      .workers.filter(({ state }) => state === 'active')
      .map(({ pid }) => before.includes(pid)),
  ).toEqual([false, false])
  const report = await load.stop()
  expect(report).toMatchObject({ notes: [], failed: 0, announced: 0, unannounced: 0, reconnected: [], unserved: [] })
})
