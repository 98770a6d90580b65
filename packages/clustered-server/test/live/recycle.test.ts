import { once } from 'node:events'
import { expect, it, onTestFinished } from 'vitest'
import { type ClusteredServer, createClusteredServer, type RecycleOptions } from '../../src/index.ts'
import { KeepAliveClients } from '../helpers/keep-alive-clients.ts'

const MEBIBYTE = 2 ** 20
const leaking = new URL('../fixtures/apps/leaking.ts', import.meta.url)

async function serverWith(recycle: RecycleOptions, leak: string): Promise<ClusteredServer> {
  const server = await createClusteredServer(leaking, {
    ...{ workers: 2, port: 0, host: '127.0.0.1', signals: false, recycle, env: { LEAK: leak } },
  })
  onTestFinished(() => server.close())
  return server
}

it.for<{ recycle: RecycleOptions; leak: string }>([
  { recycle: { rss: 160 * MEBIBYTE }, leak: 'rss' },
  { recycle: { heap: 100 * MEBIBYTE }, leak: 'heap' },
  { recycle: { requests: 1000 }, leak: 'nothing' },
  { recycle: { age: 1000 }, leak: 'nothing' },
])('by $recycle under load, which loses no request and no connection', async ({ recycle, leak }, { annotate }) => {
  const server = await serverWith(recycle, leak)
  const first = new Set(server.status().workers.map(({ id }) => id))
  let fewest = Infinity
  const look = setInterval(() => {
    const { workers } = server.status()
    fewest = Math.min(fewest, workers.filter(({ state }) => state === 'active').length)
  }, 1)
  onTestFinished(() => clearInterval(look))
  const since = performance.now()
  const clients = new KeepAliveClients(server, 20, 5)
  const recycled: { id: number; reason: string }[] = []
  server.on('recycle', (event) => recycled.push(event))
  while (recycled.length < 5) await once(server, 'recycle')
  const { failures, connections, answers } = await clients.end()
  const seconds = (performance.now() - since) / 1000
  // Each leaves 16 KB behind, where something leaks.
  const rate = `${Math.round(answers / seconds)} requests a second`
  await annotate(`${recycled.length} workers replaced in ${seconds.toFixed(1)} s, with ${rate}`)
  expect(failures).toEqual([])
  expect(connections).toBe(20)
  expect(answers).toBeGreaterThan(100)
  // Some have replaced those that replaced the first ones.
  expect(recycled.some(({ id }) => !first.has(id))).toBe(true)
  expect(new Set(recycled.map(({ reason }) => reason))).toEqual(new Set(Object.keys(recycle)))
  expect(new Set(recycled.map(({ id }) => id)).size).toBe(recycled.length)
  // Never are there fewer than are asked for.
  expect(fewest).toBe(2)
})

it('counts requests in the status', async () => {
  const server = await serverWith({}, 'nothing')
  for (let request = 0; request < 30; request++) await (await fetch(`http://127.0.0.1:${server.port}`)).text()
  const sum = (): number => server.status().workers.reduce((all, { requests }) => all + requests, 0)
  await expect.poll(sum, { timeout: 5000 }).toBe(30)
})
