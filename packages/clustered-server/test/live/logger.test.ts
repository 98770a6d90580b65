import Fastify from 'fastify'
import { PassThrough } from 'node:stream'
import { afterEach, expect, it } from 'vitest'
import { type ClusteredServer, createClusteredServer } from '../../src/index.ts'
import { eventually } from '../helpers/eventually.ts'

const options = { workers: 2, port: 0, host: '127.0.0.1', signals: false } as const

let server: ClusteredServer | undefined
afterEach(() => server?.close())

it('logs events by pino with the id of the worker', async () => {
  const stream = new PassThrough().setEncoding('utf8')
  let text = ''
  stream.on('data', (more: string) => (text += more))
  // Fastify's is a pino.
  const { log: logger } = Fastify({ logger: { stream } })
  const stuck = new URL('../fixtures/apps/measured.ts', import.meta.url)
  server = await createClusteredServer(stuck, { ...options, logger, heartbeatTimeout: 400 })
  const lines = (): { level: number; msg: string; worker?: number }[] =>
    text
      .split('\n')
      .filter(Boolean)
      .map((line) => JSON.parse(line) as { level: number; msg: string; worker?: number })
  const logged = (pattern: RegExp): Promise<object> => eventually(() => lines().find(({ msg }) => pattern.test(msg)))
  await expect(fetch(`http://127.0.0.1:${server.port}/100000`)).rejects.toThrow('fetch failed')
  expect(await logged(/^the event loop of worker \d is blocked/)).toMatchObject({
    level: 50,
    worker: expect.any(Number),
  })
  expect(await logged(/^worker \d ended unexpectedly by SIGKILL$/)).toMatchObject({ level: 50 })
  await server.reload()
  await server.close()
  const order = [
    'worker 1 started',
    'worker 1 accepts connections',
    'reload: starting generation 2',
    'closing',
    'closed',
  ]
  const messages = lines().map(({ msg }) => msg)
  expect(messages.filter((message) => order.includes(message))).toEqual(order)
  expect(lines().filter(({ msg }) => msg.startsWith('listening on 127.0.0.1, port '))).toMatchObject([{ workers: 2 }])
})
