import { once } from 'node:events'
import { expect, it } from 'vitest'
import { resolveOptions } from '../../src/options/resolve-options.ts'
import { settled, startServer } from '../helpers/running-server.ts'

const app = new URL('../fixtures/apps/measured.ts', import.meta.url)
const DEFAULT = 30_000
/** The default and the jobs below are shortened by this. */
const SCALE = 10

it('the default allows a synchronous job 30 seconds', () => {
  expect(resolveOptions(app, {}).heartbeatTimeout).toBe(DEFAULT)
})

it('does not kill a worker during a synchronous job that is shorter than the limit', async () => {
  const server = await startServer('measured.ts', { heartbeatTimeout: DEFAULT / SCALE })
  await settled(server)
  const before = server.status().workers.map(({ pid }) => pid)
  const killed: unknown[] = []
  server.on('workerBlocked', (worker) => killed.push(worker))
  const response = await fetch(`http://127.0.0.1:${server.port}/${10_000 / SCALE}`)
  expect(response.status).toBe(200)
  expect(before).toContain(Number(await response.text()))
  expect(killed).toEqual([])
  expect(server.status().workers.map(({ pid }) => pid)).toEqual(before)
})

it('kills a worker during a synchronous job that is longer than the limit', async () => {
  const server = await startServer('measured.ts', { heartbeatTimeout: DEFAULT / SCALE })
  await settled(server)
  const blocked = once(server, 'workerBlocked')
  await expect(fetch(`http://127.0.0.1:${server.port}/${3_000_000 / SCALE}`)).rejects.toThrow('fetch failed')
  await blocked
})
