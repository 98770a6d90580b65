import { createServer } from 'node:net'
import { once } from 'node:events'
import { expect, it } from 'vitest'
import { connectTo, mixed, startFaultLoad, RawConnection } from '../fault-load.ts'
import { isAlive, startProcess } from '../running-server.ts'

it('no worker outlives its primary for long, and the port is free', async ({ annotate }) => {
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
  expect(took).toBeLessThan(2500)
  const { failures } = await load.stop()
  // What was under way had time to end.
  expect(failures.closedWithin).toBeUndefined()
  endless.close()
  void stream
  const other = createServer().listen(port, '127.0.0.1')
  await once(other, 'listening')
  other.close()
})
