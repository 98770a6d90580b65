import { expect, it } from 'vitest'
import { connectTo, isAnswer, RawConnection } from '../helpers/fault-load.ts'
import { startServer } from '../helpers/running-server.ts'

it('an event stream ends properly after drainTimeout, and its connection stays open', async () => {
  const server = await startServer('faults.ts', { drainTimeout: 500 })
  const connections = Array.from({ length: 20 }, () => new RawConnection(connectTo(server.port)()))
  const streams = connections.map((connection) => connection.ask('GET /events HTTP/1.1\r\nhost: test\r\n\r\n'))
  await Promise.all(connections.map(({ socket }) => new Promise((resolve) => socket.once('data', resolve))))
  const old = server.status().workers.map(({ pid }) => pid)
  await server.reload()
  for (const [result] of await Promise.all(streams)) {
    if (!isAnswer(result!)) throw new Error(String(result))
    expect(old).toContain(Number(/^data: (\d+)\n\n$/.exec(result.body)?.[1]))
  }
  const again = await Promise.all(
    connections.map((connection) => connection.ask('GET /pid HTTP/1.1\r\nhost: test\r\n\r\n')),
  )
  for (const [result] of again) {
    if (!isAnswer(result!)) throw new Error(String(result))
    expect(old).not.toContain(Number(result.body))
  }
  expect(connections.filter(({ isClosed }) => isClosed)).toEqual([])
  for (const connection of connections) connection.close()
})
