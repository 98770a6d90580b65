import { once } from 'node:events'
import { setTimeout as wait } from 'node:timers/promises'
import { expect, it } from 'vitest'
import { connectTo, isAnswer, mixed, RawConnection, startFaultLoad } from '../helpers/fault-load.ts'
import { isQuiet } from '../helpers/quiet-machine.ts'
import { settled, startServer } from '../helpers/running-server.ts'

/** As many in a row as do not make a crash loop. */
const kills = 8

it('a killed worker loses only its own requests', { timeout: 300_000 }, async (context) => {
  const server = await startServer('faults.ts')
  const load = startFaultLoad({ connect: connectTo(server.port), clients: mixed })
  const over = new AbortController()
  const waits: number[] = []
  const lost: unknown[] = []
  const opens = async (): Promise<void> => {
    while (!over.signal.aborted) {
      const before = performance.now()
      const connection = new RawConnection(connectTo(server.port)())
      const [result] = await connection.ask('GET /pid HTTP/1.1\r\nhost: test\r\n\r\n')
      connection.close()
      if (isAnswer(result!)) waits.push(performance.now() - before)
      else lost.push(result)
      await wait(2)
    }
  }
  const opening = opens()
  const readyAfter: number[] = []
  let most = 0
  for (let kill = 0; kill < kills; kill++) {
    await settled(server)
    await wait(300)
    const victim = server.status().workers.find(({ state }) => state === 'active')!
    // All its connections, if all have a request under way, and those that were taken since it has said how many.
    most += victim.connections + 5
    const ready = once(server, 'workerReady')
    const before = performance.now()
    process.kill(victim.pid!, 'SIGKILL')
    await ready
    readyAfter.push(performance.now() - before)
  }
  over.abort()
  await opening
  const report = await load.stop()
  const sorted = (times: number[]): string[] => times.toSorted((a, b) => a - b).map((time) => time.toFixed(1))
  await context.annotate(`ready after ${sorted(readyAfter).join(', ')} ms`)
  await context.annotate(`slowest new connections ${sorted(waits).slice(-5).join(', ')} ms of ${waits.length}`)
  await context.annotate(
    `${report.failed} of ${report.answered} failed, ${report.unannounced} at rest, of ${most} at most`,
  )
  expect(report).toMatchObject({ unserved: [], announced: 0 })
  const { resetReused = 0, resetFresh = 0, closedWithin = 0, closedBefore = 0, ...others } = report.failures
  expect(others).toEqual({})
  // Of several that were sent at once, each fails: they are at most 4.
  const pipelined = (report.kinds.pipelining?.failed ?? 0) * 0.75
  expect(resetReused + resetFresh + closedWithin + closedBefore - pipelined + report.unannounced).toBeLessThanOrEqual(
    most,
  )
  expect(lost.length).toBeLessThanOrEqual(kills)
  expect(Math.max(...waits)).toBeLessThan(isQuiet ? 50 : 5000)
})
