import { once } from 'node:events'
import { createServer } from 'node:net'
import { setTimeout as wait } from 'node:timers/promises'
import { expect, it } from 'vitest'
import { coreTime } from '../../src/platform/proc-stat.ts'
import { connectTo, isAnswer, mixed, startFaultLoad, RawConnection } from '../helpers/fault-load.ts'
import { childrenOf, commandOf, isAlive, startProcess } from '../helpers/running-server.ts'

it('workers end soon after their primary, and free the port', async ({ annotate }) => {
  const { process: primary, port, workers } = await startProcess([process.execPath])
  expect(workers).toHaveLength(3)
  const load = startFaultLoad({ connect: connectTo(port), clients: mixed })
  // It does not end in the time that there is.
  const endless = new RawConnection(connectTo(port)())
  const stream = endless.ask('GET /events HTTP/1.1\r\nhost: test\r\n\r\n')
  await once(endless.socket, 'data')
  const before = performance.now()
  primary.kill('SIGKILL')
  await expect.poll(() => workers.filter(isAlive), { timeout: 4000, interval: 10 }).toEqual([])
  const took = performance.now() - before
  await annotate(`workers gone after ${Math.round(took)} ms`)
  expect(took).toBeLessThan(2000)
  const { failures } = await load.stop()
  // What was under way had time to end.
  expect(failures.closedWithin).toBeUndefined()
  endless.close()
  void stream
  expect(await canListen(port)).toBe(true)
})

async function canListen(port: number): Promise<boolean> {
  const server = createServer().listen(port, '127.0.0.1')
  try {
    await once(server, 'listening')
    return true
  } catch {
    return false
  } finally {
    server.close()
  }
}

/** The shell that sees to workers without a primary. */
function shellOf(primary: number): number {
  return childrenOf(primary).find((pid) => commandOf(pid).includes('ends workers'))!
}

it('workers with a blocked event loop end soon after their primary too', async ({ annotate }) => {
  const { process: primary, port, workers } = await startProcess([process.execPath])
  const shell = shellOf(primary.pid!)
  // Two of the three workers take connections, and each new one goes to the one that is left.
  const stuck: number[] = []
  for (let worker = 0; worker < 2; worker++) {
    const connection = new RawConnection(connectTo(port)())
    const [result] = await connection.ask('GET /pid HTTP/1.1\r\nhost: test\r\n\r\n')
    stuck.push(Number(isAnswer(result!) && result.body))
    void connection.ask('GET /block HTTP/1.1\r\nhost: test\r\n\r\n')
    // It is stuck when it runs without an end.
    await expect.poll(() => coreTime(stuck.at(-1)!)?.isRunnable, { timeout: 10_000 }).toBe(true)
    await wait(300)
  }
  expect(new Set(stuck).size).toBe(2)
  const before = performance.now()
  primary.kill('SIGKILL')
  await expect.poll(() => workers.filter(isAlive), { timeout: 20_000, interval: 10 }).toEqual([])
  const took = performance.now() - before
  await annotate(`workers gone after ${Math.round(took)} ms`)
  expect(took).toBeLessThan(2000)
  await expect.poll(() => isAlive(shell), { timeout: 10_000 }).toBe(false)
  // On a busy machine the first one was taken for stuck before, and one more process has begun in its place.
  await expect.poll(() => canListen(port), { timeout: 10_000 }).toBe(true)
})

it('the watching shell ends with the server, and is restarted if killed', async () => {
  const { process: primary, reload } = await startProcess([process.execPath])
  const first = shellOf(primary.pid!)
  process.kill(first, 'SIGKILL')
  await reload()
  const second = shellOf(primary.pid!)
  expect(second).not.toBe(first)
  primary.kill('SIGTERM')
  await expect(once(primary, 'exit')).resolves.toEqual([0, null])
  await expect.poll(() => isAlive(second), { timeout: 10_000 }).toBe(false)
})
