import { once } from 'node:events'
import { readFileSync, rmSync, writeFileSync } from 'node:fs'
import type { AddressInfo } from 'node:net'
import { join } from 'node:path'
import websocket from '@fastify/websocket'
import Fastify, { type FastifyInstance } from 'fastify'
import { nextPlugin } from 'next-on-fastify'
import { afterAll, beforeAll, expect, it } from 'vitest'
import { WebSocket } from 'ws'
import { copiedFixture } from '../helpers/built-fixture.ts'
import { startUpstream, type Upstream } from '../helpers/upstream.ts'

let app: FastifyInstance
let dir: string
let origin: string
let upstream: Upstream

beforeAll(async () => {
  process.env['NEXT_TELEMETRY_DISABLED'] = '1'
  process.env['NODE_ENV'] = 'development'
  process.env['FIXTURE_BASE_PATH'] = '/web'
  upstream = await startUpstream()
  process.env['FIXTURE_UPSTREAM'] = String(upstream.port)
  dir = copiedFixture('newest')
  app = Fastify()
  await app.register(nextPlugin, { dir, dev: true, prefix: '/web' })
  await app.register(websocket)
  app.get('/own', { websocket: true }, (socket) => socket.send('own'))
  origin = await app.listen({ host: '127.0.0.1', port: 0 })
}, 120_000)
afterAll(async () => {
  await app.close()
  upstream.close()
  rmSync(dir, { recursive: true })
})

it('a page learns of a change to its source, before any page was asked for since the start', async () => {
  const { port } = app.server.address() as AddressInfo
  // Next takes pages of localhost for its own.
  const updates = new WebSocket(`ws://127.0.0.1:${port}/web/_next/hmr?id=test`, { origin: `http://localhost:${port}` })
  const messages: string[] = []
  updates.on('message', (message: Buffer) => void messages.push(message.toString()))
  await once(updates, 'open')
  const page = async (): Promise<string> => (await fetch(`${origin}/web/static`)).text()
  expect(await page()).toContain('<h1>Static</h1>')
  const path = join(dir, 'app/static/page.jsx')
  const before = messages.length
  writeFileSync(path, readFileSync(path, 'utf8').replace('Static', 'Changed'))
  await expect.poll(page, { timeout: 60_000 }).toContain('<h1>Changed</h1>')
  await expect.poll(() => messages.length, { timeout: 60_000 }).toBeGreaterThan(before)
  updates.terminate()
})

it('a route of @fastify/websocket works beside it', async () => {
  const { port } = app.server.address() as AddressInfo
  const own = new WebSocket(`ws://127.0.0.1:${port}/own`)
  const [message] = (await once(own, 'message')) as [Buffer]
  expect(message.toString()).toBe('own')
  own.terminate()
})

it('forwards a WebSocket to the target of a rewrite', async () => {
  const { port } = app.server.address() as AddressInfo
  const socket = new WebSocket(`ws://127.0.0.1:${port}/web/upstream/socket`)
  const [message] = (await once(socket, 'message')) as [Buffer]
  expect(message.toString()).toBe('socket /socket')
  socket.terminate()
})

it('serves Next below its prefix, and Fastify elsewhere', async () => {
  const page = await (await fetch(`${origin}/web`)).text()
  expect(page).toContain('<h1>Home</h1>')
  const [script] = /\/web\/_next\/static\/[^"]+\.js/.exec(page)!
  expect((await fetch(origin + script)).status).toBe(200)
  expect(await (await fetch(`${origin}/static`)).json()).toMatchObject({ message: 'Route GET:/static not found' })
})
