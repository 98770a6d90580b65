import { setTimeout as wait } from 'node:timers/promises'
import { expect, it } from 'vitest'
import { connectTo, mixed, startFaultLoad } from '../helpers/fault-load.ts'
import { startServer } from '../helpers/running-server.ts'

const reloads = Number(process.env['RELOADS'] ?? 6)
/** The reloads go on until so many have been answered. */
const requests = Number(process.env['REQUESTS'] ?? 0)
const timeout = 120_000 + 20_000 * reloads + 3 * requests

it.for([2, 4])(
  'reloads of %i workers lose no request, and close no connection',
  { timeout },
  async (workers, { annotate }) => {
    const server = await startServer('faults.ts', { workers })
    const load = startFaultLoad({ connect: connectTo(server.port), clients: mixed })
    let done = 0
    for (; done < reloads || load.answered < requests; done++) {
      await server.reload()
      await wait(Math.random() * 200)
    }
    const report = await load.stop()
    const { answered, connections, slowest, p99 } = report
    await annotate(`${done} reloads: ${JSON.stringify({ answered, connections, slowest, p99 })}`)
    expect(report).toMatchObject({ notes: [], failed: 0, announced: 0, unannounced: 0, reconnected: [], unserved: [] })
  },
)
