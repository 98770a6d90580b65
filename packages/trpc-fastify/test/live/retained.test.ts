// What a request brought and what it got is not alive when it is over, however idle the server is then.

import { type ChildProcess, fork } from 'node:child_process'
import { once } from 'node:events'
import { readFileSync, rmSync } from 'node:fs'
import { connect } from 'node:net'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { WebSocket } from 'ws'
import type { Retained } from '../fixtures/retained-server.ts'

let server: ChildProcess
let port: number

beforeAll(async () => {
  const file = fileURLToPath(new URL('../fixtures/retained-server.ts', import.meta.url))
  server = fork(file, { execArgv: ['--expose-gc'], env: { ...process.env, NODE_ENV: 'production' } })
  ;[{ port }] = (await once(server, 'message')) as [{ port: number }]
})
afterAll(() => void server.kill('SIGKILL'))

async function retained(file = ''): Promise<Retained> {
  server.send(file)
  return ((await once(server, 'message')) as [Retained])[0]
}

/** What only one user knows: the server has it from nowhere else. */
const secretOf = (kind: string): string => `secret-${kind}-${Math.random().toString(36).slice(2)}`
const encoded = (value: unknown): string => encodeURIComponent(JSON.stringify(value))

/** Sends a request on a connection of its own, reads for as long as it is told, and goes away. */
async function send(text: string, isEnough = (_read: string): boolean => false): Promise<void> {
  const socket = connect(port, '127.0.0.1').setEncoding('latin1')
  socket.on('error', () => {})
  socket.write(text)
  let read = ''
  socket.on('data', (chunk: string) => {
    read += chunk
    if (isEnough(read)) socket.destroy()
  })
  await once(socket, 'close')
}

const get = (path: string, secret: string, ...headers: string[]): string =>
  [`GET /trpc/${path} HTTP/1.1`, 'host: localhost', 'connection: close', `authorization: ${secret}`, ...headers].join(
    '\r\n',
  ) + '\r\n\r\n'
const post = (path: string, secret: string, body: string, length = body.length): string =>
  [
    `POST /trpc/${path} HTTP/1.1`,
    'host: localhost',
    'connection: close',
    `authorization: ${secret}`,
    'content-type: application/json',
    `content-length: ${length}`,
  ].join('\r\n') + `\r\n\r\n${body}`

const KINDS: Record<string, (secret: string) => Promise<void>> = {
  query: (secret) => send(get(`aQueryWithALongName?input=${encoded({ secret })}`, secret)),
  'asynchronous query': (secret) => send(get(`later?input=${encoded({ secret })}`, secret)),
  'failing query': (secret) => send(get(`fails?input=${encoded({ secret })}`, secret)),
  'unknown procedure': (secret) => send(get(`unknownProcedure?input=${encoded({ secret })}`, secret)),
  'malformed input': (secret) => send(get(`later?input=%7B${secret}`, secret)),
  batch: (secret) => send(get(`later,fails,aQueryWithALongName?batch=1&input=${encoded({ 0: { secret } })}`, secret)),
  'large mutation': (secret) => send(post('write', secret, JSON.stringify({ secret, large: 'x'.repeat(5e6) }))),
  'streamed batch': (secret) =>
    send(get(`stream,later?batch=1&input=${encoded({ 0: { secret } })}`, secret, 'trpc-accept: application/jsonl')),
  'streamed batch whose client goes away': (secret) =>
    send(
      get(`stream,later?batch=1&input=${encoded({ 0: { secret } })}`, secret, 'trpc-accept: application/jsonl'),
      (read) => read.includes('\r\n\r\n'),
    ),
  subscription: (secret) =>
    send(get(`events?input=${encoded({ secret })}`, secret), (read) => read.includes('id: id3')),
  'subscription that comes back': (secret) =>
    send(get(`events?input=${encoded({ secret })}&lastEventId=${secret}`, secret), (read) => read.includes('id: id3')),
  'unusual host': (secret) =>
    send(get(`later?input=${encoded({ secret })}`, secret).replace('localhost', `${secret}.x`)),
  'upload whose client goes away': async (secret) => {
    const socket = connect(port, '127.0.0.1')
    socket.write(post('write', secret, JSON.stringify({ secret }), 1e6))
    await new Promise((resolve) => setTimeout(resolve, 50))
    socket.destroy()
    await once(socket, 'close')
  },
  WebSocket: async (secret) => {
    const socket = new WebSocket(`ws://127.0.0.1:${port}/trpc`, { headers: { authorization: secret } })
    await once(socket, 'open')
    socket.send(JSON.stringify({ id: 1, method: 'query', params: { path: 'later', input: { secret } } }))
    await once(socket, 'message')
    socket.close()
    await once(socket, 'close')
  },
}

describe.each(Object.entries(KINDS))('%s', (kind, visit) => {
  // The first request of a kind fills caches.
  const secrets: string[] = []
  const visitOnce = async (): Promise<void> => {
    const secret = secretOf(kind.replaceAll(' ', '-'))
    secrets.push(secret)
    await visit(secret)
  }

  it('retains no request, body, input, context, result or reply', async () => {
    for (let times = 0; times < 3; times++) await visitOnce()
    const { count, alive } = await retained()
    expect(count).toBeGreaterThan(3)
    expect(alive).toEqual([])
  })

  it('retains no text of the request', async () => {
    const file = join(tmpdir(), `${secretOf('heap')}.heapsnapshot`)
    await visitOnce()
    try {
      await retained(file)
      const snapshot = readFileSync(file, 'latin1')
      expect(snapshot).toContain('retained-server.ts')
      expect(secrets.filter((secret) => snapshot.includes(secret))).toEqual([])
    } finally {
      rmSync(file, { force: true })
    }
  })
})
