import { Agent, get } from 'node:http'
import { afterEach, expect, it } from 'vitest'
import { type ClusteredServer, createClusteredServer } from '../../src/index.ts'

const hello = new URL('../fixtures/apps/hello.ts', import.meta.url)
const options = { workers: 2, port: 0, host: '127.0.0.1', signals: false } as const

let server: ClusteredServer
afterEach(() => server.close())

it('a reload serves each request and closes no connection', async () => {
  server = await createClusteredServer(hello, options)
  const agent = new Agent({ keepAlive: true, maxSockets: 20 })
  const reused: boolean[] = []
  const pids = new Set<string>()
  const ask = (): Promise<void> =>
    new Promise((resolve, reject) => {
      const request = get({ port: server.port, host: server.host, agent }, async (response) => {
        pids.add((await response.setEncoding('utf8').toArray()).join(''))
        reused.push(request.reusedSocket)
        resolve()
      }).on('error', reject)
    })
  const over = new AbortController()
  const clients = Array.from({ length: 20 }, async () => {
    while (!over.signal.aborted) await ask()
  })
  for (let reload = 0; reload < 3; reload++) await server.reload()
  over.abort()
  await Promise.all(clients)
  agent.destroy()
  // More than the first two.
  expect(pids.size).toBeGreaterThan(2)
  expect(reused.filter((isReused) => !isReused)).toHaveLength(20)
})
