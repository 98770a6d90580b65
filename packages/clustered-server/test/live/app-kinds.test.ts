import { setTimeout as wait } from 'node:timers/promises'
import { expect, it } from 'vitest'
import { connectTo, type Kind, startFaultLoad } from '../fault-load.ts'
import { startServer } from '../running-server.ts'

const clients: Partial<Record<Kind, number>> = { busy: 2, thinking: 8, short: 1, slow: 4, streaming: 2, uploading: 2 }

it.each([
  'listens.ts',
  'handler.ts',
  'express-like.ts',
  'fastify.ts',
  'plugin.ts',
  'async-listener.ts',
  'web-socket.ts',
])('reloads an app of its kind: %s', async (app) => {
  const server = await startServer(app)
  const before = server.status().workers.map(({ id }) => id)
  const load = startFaultLoad({ connect: connectTo(server.port), clients })
  for (let reload = 0; reload < 2; reload++) {
    await server.reload()
    await wait(200)
  }
  const active = server.status().workers.filter(({ state }) => state === 'active')
  expect(active.length).toBeGreaterThanOrEqual(2)
  expect(active.filter(({ id }) => before.includes(id))).toEqual([])
  const report = await load.stop()
  const none = { notes: [], failed: 0, announced: 0, unannounced: 0, reconnected: [], unserved: [] }
  expect(report).toMatchObject(none)
  const ids = server.status().workers.length
  await server.close()
  expect(ids).toBeGreaterThan(0)
  expect(server.status().workers).toEqual([])
})
