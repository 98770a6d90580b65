import { expect, it } from 'vitest'
import { connectTo, RawConnection } from '../helpers/fault-load.ts'
import { isQuiet } from '../helpers/quiet-machine.ts'
import { startServer } from '../helpers/running-server.ts'

const count = Number(process.env['IDLE'] ?? 2000)

async function open(port: number): Promise<RawConnection> {
  const connection = new RawConnection(connectTo(port)(), 20_000)
  await new Promise((resolve) => connection.socket.once('connect', resolve))
  return connection
}

it(`${count} idle connections survive a reload, and the old workers end soon`, async ({ annotate }) => {
  const server = await startServer('patient.ts')
  const connections: RawConnection[] = []
  for (let some = 0; some < count; some += 100)
    connections.push(...(await Promise.all(Array.from({ length: 100 }, () => open(server.port)))))
  const ask = async (connection: RawConnection, id: number): Promise<void> =>
    expect(await connection.ask(`GET /answer/${id} HTTP/1.1\r\nhost: test\r\n\r\n`)).toEqual([
      { status: 200, body: String(id) },
    ])
  // Every other one never asks before the reload.
  await Promise.all(connections.filter((_, id) => id % 2).map(ask))
  const old = server.status().workers.map(({ id }) => id)
  const isOld = (): boolean => server.status().workers.some(({ id }) => old.includes(id))
  await server.reload()
  const reloadedAt = performance.now()
  // Where much else runs, each that is passed on waits for its turn.
  await expect.poll(isOld, { timeout: isQuiet ? 3000 : 20_000, interval: 20 }).toBe(false)
  const took = performance.now() - reloadedAt
  await annotate(`${count} connections: old workers gone ${took.toFixed()} ms after the reload`)
  await Promise.all(connections.map(ask))
  expect(connections.filter(({ isClosed }) => isClosed)).toEqual([])
  for (const connection of connections) connection.close()
})

it('a connection without any request may be idle for longer than others, also after a reload', async () => {
  // Its server closes those that have asked after a second or two.
  const server = await startServer('impatient.ts')
  const [asked, never] = [await open(server.port), await open(server.port)]
  await asked.ask('GET /answer/1 HTTP/1.1\r\nhost: test\r\n\r\n')
  await server.reload()
  await asked.closed
  await new Promise((resolve) => setTimeout(resolve, 3000))
  expect(never).toMatchObject({ isClosed: false })
  expect(await never.ask('GET /answer/2 HTTP/1.1\r\nhost: test\r\n\r\n')).toEqual([{ status: 200, body: '2' }])
  never.close()
})
