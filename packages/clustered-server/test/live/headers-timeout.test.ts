import { setTimeout as wait } from 'node:timers/promises'
import { expect, it } from 'vitest'
import { connectTo, RawConnection } from '../helpers/fault-load.ts'
import { startServer } from '../helpers/running-server.ts'

it('a handed over connection keeps its full keep-alive timeout', async () => {
  const server = await startServer('hasty.ts')
  const connections = Array.from({ length: 20 }, () => new RawConnection(connectTo(server.port)()))
  const ask = async (connection: RawConnection): Promise<void> =>
    expect(await connection.ask('GET /answer/1 HTTP/1.1\r\nhost: test\r\n\r\n')).toEqual([{ status: 200, body: '1' }])
  await Promise.all(connections.map(ask))
  await server.reload()
  // Several times as long as a connection may take to ask for the first time.
  await wait(2000)
  expect(connections.filter(({ isClosed }) => isClosed)).toEqual([])
  await Promise.all(connections.map(ask))
  // It is the rule for new ones all the same.
  const silent = new RawConnection(connectTo(server.port)())
  silent.begin('GET / HT')
  await silent.closed
  for (const connection of connections) connection.close()
})
