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

it('reloads do not wait for event streams, whose workers drain beside the new ones', async () => {
  const server = await startServer('faults.ts', { drainTimeout: 600_000 })
  const open = async (): Promise<RawConnection> => {
    const connection = new RawConnection(connectTo(server.port)())
    void connection.ask('GET /events HTTP/1.1\r\nhost: test\r\n\r\n')
    await new Promise((resolve) => connection.socket.once('data', resolve))
    return connection
  }
  const connections: RawConnection[] = []
  for (const generation of [2, 3]) {
    connections.push(await open())
    await server.reload()
    expect(server.status().generation).toBe(generation)
    const active = server.status().workers.filter(({ state }) => state === 'active')
    expect(active.map((worker) => worker.generation)).toEqual([generation, generation])
    const response = await fetch(`http://127.0.0.1:${server.port}/pid`)
    expect(active.map(({ pid }) => pid)).toContain(Number(await response.text()))
  }
  expect(connections.map(({ isClosed }) => isClosed)).toEqual([false, false])
  const old = (): number[] =>
    server
      .status()
      .workers.filter(({ state }) => state === 'retiring')
      .map(({ generation }) => generation)
  // Workers without a stream end.
  await expect.poll(old).toEqual([1, 2])
  for (const connection of connections) connection.close()
  await expect.poll(old).toEqual([])
})
