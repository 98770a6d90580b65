import { once } from 'node:events'
import { get, type IncomingMessage } from 'node:http'
import { expect, it, onTestFinished } from 'vitest'
import { createClusteredServer } from '../../src/index.ts'

const slow = new URL('../fixtures/apps/slow.ts', import.meta.url)

it.each([1, 2])('kill() ends everything immediately, also during close(), with %i workers', async (workers) => {
  const server = await createClusteredServer(slow, { workers, port: 0, host: '127.0.0.1', signals: false })
  onTestFinished(() => server.kill())
  const { host, port } = server
  const [response] = (await once(get({ host, port, path: '/60000' }), 'response')) as [IncomingMessage]
  let closed = 0
  server.on('closed', () => closed++)
  const end = server.close()
  const cut = once(response.resume(), 'error')
  server.kill()
  server.kill()
  await Promise.all([end, cut])
  expect(response.complete).toBe(false)
  expect(closed).toBe(1)
  expect(server.status().workers).toEqual([])
  await expect(fetch(`http://${host}:${port}`)).rejects.toMatchObject({ cause: { code: 'ECONNREFUSED' } })
  await server.close()
  expect(closed).toBe(1)
})
