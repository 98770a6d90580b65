import { setTimeout as wait } from 'node:timers/promises'
import { connect } from 'node:tls'
import { expect, it } from 'vitest'
import { canCertify, certificate } from '../helpers/certificate.ts'
import { mixed, RawConnection, startFaultLoad } from '../helpers/fault-load.ts'
import { startServer } from '../helpers/running-server.ts'

const reloads = Number(process.env['RELOADS'] ?? 6)
const env = canCertify ? certificate() : {}

it.runIf(canCertify)(
  'reloads lose no TLS request, and close each connection with notice',
  { timeout: 600_000 },
  async () => {
    const server = await startServer('secure.ts', { env })
    const open = (): RawConnection['socket'] =>
      connect({ port: server.port, host: '127.0.0.1', rejectUnauthorized: false })
    const load = startFaultLoad({ connect: open, clients: mixed })
    for (let reload = 0; reload < reloads; reload++) {
      await server.reload()
      await wait(Math.random() * 200)
    }
    const report = await load.stop()
    expect(report).toMatchObject({ notes: [], failed: 0, unannounced: 0, unserved: [] })
    expect(report.announced).toBeGreaterThan(0)
  },
)

it.runIf(canCertify)(
  'an idle TLS connection gets one more response with connection: close after a reload',
  async () => {
    const server = await startServer('secure.ts', { env })
    const connections = Array.from(
      { length: 20 },
      () => new RawConnection(connect({ port: server.port, host: '127.0.0.1', rejectUnauthorized: false })),
    )
    const ask = async (connection: RawConnection): Promise<void> =>
      expect(await connection.ask('GET /answer/1 HTTP/1.1\r\nhost: test\r\n\r\n')).toEqual([{ status: 200, body: '1' }])
    const [never, ...others] = connections
    await Promise.all(others.map(ask))
    expect(others.some(({ isAnnounced }) => isAnnounced)).toBe(false)
    await server.reload()
    await wait(500)
    expect(connections.filter(({ isClosed }) => isClosed)).toEqual([])
    await Promise.all(connections.map(ask))
    expect(others.every(({ isAnnounced }) => isAnnounced)).toBe(true)
    expect(never).toMatchObject({ isAnnounced: true })
  },
)
