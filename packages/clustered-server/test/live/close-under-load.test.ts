import { once } from 'node:events'
import { createServer } from 'node:net'
import { setTimeout as wait } from 'node:timers/promises'
import { expect, it } from 'vitest'
import { connectTo, isAnswer, mixed, RawConnection, startFaultLoad } from '../helpers/fault-load.ts'
import { isAlive, startServer } from '../helpers/running-server.ts'

it('finishes requests in flight when the server closes', async ({ annotate }) => {
  let late = await closeUnderLoad(annotate)
  // A client that a busy machine lets wait for longer than the notice is like one that thinks.
  for (let again = 0; again < 3 && late.length > 0; again++) late = await closeUnderLoad(annotate)
  expect(late).toEqual([])
})

/** Gives the kinds of clients that ask all the time and were not told in time that they ask for the last time. */
async function closeUnderLoad(annotate: (message: string) => Promise<unknown>): Promise<unknown[]> {
  const server = await startServer('faults.ts')
  const load = startFaultLoad({ connect: connectTo(server.port), clients: mixed })
  // Connections that rest, and those that have never asked, do not hold it up.
  const resting = Array.from({ length: 20 }, () => new RawConnection(connectTo(server.port)()))
  await Promise.all(resting.slice(10).map((one) => one.ask('GET /answer/1 HTTP/1.1\r\nhost: test\r\n\r\n')))
  await wait(500)
  const slow = Array.from({ length: 20 }, () => {
    const connection = new RawConnection(connectTo(server.port)())
    return { connection, result: connection.ask('GET /wait/3000 HTTP/1.1\r\nhost: test\r\n\r\n') }
  })
  // Until the requests have been read.
  await wait(1000)
  const pids = server.status().workers.map(({ pid }) => pid!)
  const before = performance.now()
  await server.close()
  await annotate(`closed after ${Math.round(performance.now() - before)} ms`)
  expect(pids.filter(isAlive)).toEqual([])
  for (const { result, connection } of slow) {
    expect((await result).filter(isAnswer)).toHaveLength(1)
    expect(connection.isAnnounced).toBe(true)
  }
  const { failures, answered, kinds } = await load.stop()
  await annotate(`${answered} answered, then ${JSON.stringify(failures)}`)
  expect(answered).toBeGreaterThan(0)
  expect(failures.closedWithin).toBeUndefined()
  expect(failures.timeout).toBeUndefined()
  // Whoever asks all the time is told in time: only new connections are not taken. Who thinks may ask at the last moment.
  const late = (['busy', 'posting', 'slow', 'streaming', 'uploading'] as const).flatMap((kind) => {
    const { refused: _refused, resetFresh: _resetFresh, ...others } = kinds[kind]!.failures
    return Object.keys(others).length > 0 ? { kind, ...others } : []
  })
  const other = createServer().listen(server.port, '127.0.0.1')
  await once(other, 'listening')
  other.close()
  return late
}
