import { get, type IncomingMessage, type ServerResponse } from 'node:http'
import { once } from 'node:events'
import type { FastifyInstance } from 'fastify'
import { expect, it } from 'vitest'
import type { PassThroughOptions } from '../../../src/index.ts'
import { gateway, upstream } from '../../helpers/servers.ts'

interface Streaming {
  readonly app: FastifyInstance
  readonly response: IncomingMessage
  /** The upstream's side. */
  readonly source: ServerResponse
  readonly text: () => string
  readonly isBroken: () => boolean
}

/** A client of an event stream. */
async function streaming(
  passThrough: Partial<PassThroughOptions>,
  headers: Record<string, string> = {},
  timeout = 200,
): Promise<Streaming> {
  const sources: ServerResponse[] = []
  const origin = await upstream((_request, response) => {
    sources.push(response)
    response.writeHead(200, { 'content-type': 'text/event-stream; charset=utf-8', ...headers }).flushHeaders()
  })
  const app = await gateway({
    upstreams: { it: origin },
    endpoints: [{ path: '/events', timeout, passThrough: { upstream: 'it', path: '/', ...passThrough } }],
  })
  const address = await app.listen({ port: 0, host: '127.0.0.1' })
  let isBroken = false
  const request = get(`${address}/events`).on('error', () => (isBroken = true))
  const [response] = (await once(request, 'response')) as [IncomingMessage]
  let text = ''
  response.setEncoding('utf8').on('data', (chunk: string) => (text += chunk))
  response.on('error', () => (isBroken = true))
  return { app, response, source: sources[0]!, text: () => text, isBroken: () => isBroken }
}

const sleep = (milliseconds: number): Promise<void> => new Promise((resolve) => setTimeout(resolve, milliseconds))

it('passes events on as they come', async () => {
  const { response, source, text } = await streaming({})
  expect(response.headers['content-type']).toBe('text/event-stream; charset=utf-8')
  for (const event of ['data: 1\n\n', 'id: 2\nda', 'ta: 2\n\n']) {
    const before = text()
    source.write(event)
    await expect.poll(text).toBe(before + event)
  }
  source.end()
  await once(response, 'end')
})

it('ends a stream whose upstream pauses for longer than the timeout', async () => {
  const { source, isBroken } = await streaming({})
  source.write('data: 1\n\n')
  await expect.poll(isBroken).toBe(true)
  await expect.poll(() => source.closed).toBe(true)
})

it('keeps a stream with a heartbeat open, and sends comments', async () => {
  const { source, text, isBroken } = await streaming({ heartbeat: 50 })
  // Before the first event, too.
  await expect.poll(text).toMatch(/^(?::\n\n){10,}$/)
  source.write('data: 1\r\n\r\n')
  await expect.poll(text).toMatch(/data: 1\r\n\r\n(?::\n\n){10,}$/)
  expect([isBroken(), source.closed]).toEqual([false, false])
})

it('sends no comment within an event, and limits the pause there', async () => {
  const { source, text, isBroken } = await streaming({ heartbeat: 20 }, {}, 300)
  source.write('data: 1\n')
  await expect.poll(isBroken).toBe(true)
  expect(text().replaceAll(':\n\n', '')).toBe('data: 1\n')
  expect(text().endsWith('data: 1\n')).toBe(true)
})

it.each([
  ['compressed', { 'content-encoding': 'gzip' }],
  ['of another type', { 'content-type': 'text/plain' }],
])('sends no comment in a stream that is %s', async (_title, headers) => {
  const { source, text, isBroken } = await streaming({ heartbeat: 20 }, headers)
  source.write('data: 1\n\n')
  await expect.poll(isBroken).toBe(true)
  expect(text()).toBe('data: 1\n\n')
})

it('stops comments when the upstream ends or breaks', async () => {
  const ended = await streaming({ heartbeat: 20 })
  ended.source.end('data: 1\n\n')
  await once(ended.response, 'end')
  const broken = await streaming({ heartbeat: 20 })
  broken.source.destroy()
  await expect.poll(broken.isBroken).toBe(true)
  const before = broken.text()
  await sleep(60)
  expect(broken.text()).toBe(before)
})

it('a client that leaves ends the stream of the upstream', async () => {
  const { source, response } = await streaming({ heartbeat: 20 })
  response.destroy()
  await expect.poll(() => source.closed).toBe(true)
})

it('a client that does not read holds the upstream back', async () => {
  const { source, response } = await streaming({ heartbeat: 20, clientTimeout: 60_000 }, {}, 60_000)
  response.pause()
  const event = `data: ${'x'.repeat(100_000)}\n\n`
  // The sockets have room for some MB.
  for (let sent = 0; sent < 300; sent++) source.write(event)
  await sleep(100)
  expect(source.writableLength).toBeGreaterThan(1_000_000)
  response.resume()
  await expect.poll(() => source.writableLength).toBe(0)
})

it('a stream with a heartbeat ends when the gateway closes, so that its client reconnects', async () => {
  const { app, source, response, text } = await streaming({ heartbeat: 60_000 })
  source.write('data: 1\n\n')
  await expect.poll(text).toBe('data: 1\n\n')
  const [, closed] = await Promise.all([once(response, 'end'), app.close()])
  expect(closed).toBeUndefined()
  await expect.poll(() => source.closed).toBe(true)
})
