import { setTimeout as wait } from 'node:timers/promises'
import { afterEach, expect, it } from 'vitest'
import { type ClusteredServer, createClusteredServer } from '../../src/index.ts'
import { connectTo, mixed, startFaultLoad } from '../fault-load.ts'

const reloads = Number(process.env['RELOADS'] ?? 6)
const app = new URL('../apps/faults.ts', import.meta.url)

let server: ClusteredServer
afterEach(() => server.close())

it.each([2, 4])(
  'reloads of %i workers lose no request, and close no connection',
  async (workers) => {
    server = await createClusteredServer(app, { workers, port: 0, host: '127.0.0.1', signals: false })
    const load = startFaultLoad({ connect: connectTo(server.port), clients: mixed })
    for (let reload = 0; reload < reloads; reload++) {
      await server.reload()
      await wait(Math.random() * 200)
    }
    const report = await load.stop()
    expect(report).toMatchObject({ notes: [], failed: 0, announced: 0, unannounced: 0, reconnected: [], unserved: [] })
  },
  120_000 + 10_000 * reloads,
)
