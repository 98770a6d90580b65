import { setTimeout as wait } from 'node:timers/promises'
import { expect, it } from 'vitest'
import { WebSocket } from 'ws'
import { startServer } from '../helpers/running-server.ts'

const reloads = Number(process.env['RELOADS'] ?? 4)

it('a reload sends a close frame to each WebSocket', { timeout: 600_000 }, async ({ annotate }) => {
  const server = await startServer('web-socket.ts')
  const over = new AbortController()
  const ends: number[] = []
  const failures: unknown[] = []
  let echoed = 0
  const client = async (): Promise<void> => {
    while (!over.signal.aborted) {
      const socket = new WebSocket(`ws://127.0.0.1:${server.port}`)
      socket.on('error', (error) => failures.push(error))
      socket.on('message', () => {
        echoed++
        setTimeout(() => (over.signal.aborted ? socket.close(1000) : socket.send('more')), 5)
      })
      socket.on('open', () => socket.send('first'))
      ends.push(await new Promise<number>((resolve) => socket.once('close', resolve)))
    }
  }
  const clients = Array.from({ length: 20 }, client)
  for (let reload = 0; reload < reloads; reload++) {
    await wait(300)
    await server.reload()
  }
  await wait(500)
  over.abort()
  await Promise.all(clients)
  await annotate(`${echoed} messages, ${ends.length} connections`)
  expect(failures).toEqual([])
  expect(new Set(ends)).toEqual(new Set([1001, 1000]))
  expect(echoed).toBeGreaterThan(100)
})
