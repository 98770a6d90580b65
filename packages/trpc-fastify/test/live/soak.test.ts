// Many requests, some of whose clients go away, leave nothing behind. SOAK=2000000 makes it long.

import { fork } from 'node:child_process'
import { once } from 'node:events'
import type { AddressInfo } from 'node:net'
import { fileURLToPath } from 'node:url'
import { Agent, request } from 'undici'
import { expect, it, vi } from 'vitest'
import type { Remains } from '../fixtures/soak-server.ts'

const REQUESTS = Number(process.env['SOAK'] ?? 20_000)
const CLIENTS = 50
/** Of a hundred requests, so many whose client goes away, and so many subscriptions. */
const [ABORTED, SUBSCRIBED] = [5, 1]

const input = (value: unknown): string => encodeURIComponent(JSON.stringify(value))
const STREAM = { 'trpc-accept': 'application/jsonl' }
const ORDINARY: [path: string, headers?: Record<string, string>][] = [
  ['hello'],
  [`echo?input=${input({ text: 'é'.repeat(50) })}`],
  [`echo?input=%7B`],
  ['fails'],
  [`hello,echo,fails?batch=1&input=${input({ 1: { a: 1 } })}`],
  [`hello,echo?batch=1&input=${input({ 1: { a: 1 } })}`, STREAM],
  ['slow,hello?batch=1', STREAM],
]

it('retains neither memory nor handles', { timeout: Math.max(120_000, REQUESTS) }, async () => {
  const file = fileURLToPath(new URL('../fixtures/soak-server.ts', import.meta.url))
  const server = fork(file, { execArgv: ['--expose-gc'], env: { ...process.env, NODE_ENV: 'production' } })
  const dispatcher = new Agent({ connections: CLIENTS, pipelining: 1 })
  try {
    const [{ port }] = (await once(server, 'message')) as [AddressInfo]
    const url = `http://127.0.0.1:${port}/trpc/`
    const remains = async (): Promise<Remains> => {
      server.send('what remains?')
      return ((await once(server, 'message')) as [Remains])[0]
    }
    let sent = 0
    const client = async (until: number): Promise<void> => {
      while (sent < until) await visit(url, sent++, dispatcher)
    }
    const all = async (until: number): Promise<void> => {
      await Promise.all(Array.from({ length: CLIENTS }, () => client(until)))
      await vi.waitFor(async () => expect((await remains()).subscriptions).toBe(0), { timeout: 30_000 })
    }
    // Caches fill and code is compiled first; after that, nothing may grow.
    await all(REQUESTS / 4)
    const before = await remains()
    await all(REQUESTS)
    const after = await remains()
    console.log(`after ${REQUESTS / 4} and ${REQUESTS} requests:`, before, after)
    expect(after.heap).toBeLessThan(before.heap * 1.1)
    expect(after.handles).toBeLessThanOrEqual(before.handles + CLIENTS)
    expect(after.fast).toBeGreaterThan(REQUESTS * 0.9)
    expect(after.official).toBe(0)
  } finally {
    await dispatcher.destroy()
    server.kill('SIGKILL')
  }
})

/** One request; which kind depends on its number. */
async function visit(url: string, number: number, dispatcher: Agent): Promise<void> {
  const kind = number % 100
  if (kind < SUBSCRIBED) {
    const { body } = await request(`${url}ticks`, { dispatcher })
    await body[Symbol.asyncIterator]().next()
    body.destroy()
    return
  }
  if (kind < SUBSCRIBED + ABORTED) {
    const controller = new AbortController()
    setTimeout(() => controller.abort(), number % 5)
    const { signal } = controller
    await request(`${url}slow`, { dispatcher, signal })
      .then(({ body }) => body.dump({ signal, limit: 1024 }))
      .catch(() => {})
    return
  }
  if (kind % 10 === 9) {
    const headers = { 'content-type': 'application/json' }
    const { body } = await request(`${url}write`, { dispatcher, method: 'POST', headers, body: `{"number":${number}}` })
    await body.dump()
    return
  }
  const [path, headers = {}] = ORDINARY[number % ORDINARY.length]!
  const { body } = await request(url + path, { dispatcher, headers })
  await body.dump()
}
