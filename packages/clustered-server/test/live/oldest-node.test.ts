import { execFileSync } from 'node:child_process'
import { fileURLToPath } from 'node:url'
import { setTimeout as wait } from 'node:timers/promises'
import { expect, it } from 'vitest'
import { connectTo, mixed, startFaultLoad } from '../helpers/fault-load.ts'
import { startProcess } from '../helpers/running-server.ts'

// Another one can be named, to try it.
const oldest = new URL('../../../../test/node-versions/node_modules/node-22/bin/node', import.meta.url)
const node = process.env['NODE_TO_TRY'] ?? fileURLToPath(oldest)

it(
  'reloads on the oldest supported Node lose no request, and close no connection',
  { timeout: 120_000 },
  async (test) => {
    await test.annotate(String(execFileSync(node, ['--version'])).trim())
    const server = await startProcess([node])
    const load = startFaultLoad({ connect: connectTo(server.port), clients: mixed })
    for (let reload = 0; reload < 3; reload++) {
      await server.reload()
      await wait(200)
    }
    const report = await load.stop()
    expect(report).toMatchObject({ notes: [], failed: 0, announced: 0, unannounced: 0, reconnected: [], unserved: [] })
  },
)
