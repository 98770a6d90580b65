// A gateway that idles holds nothing of past requests and responses: neither objects nor their text.

import { randomBytes } from 'node:crypto'
import { fork } from 'node:child_process'
import { once } from 'node:events'
import { mkdtempSync, readFileSync, rmSync } from 'node:fs'
import { Agent, createServer, request as httpRequest, type IncomingMessage, type ServerResponse } from 'node:http'
import type { AddressInfo } from 'node:net'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { afterAll, beforeAll, expect, it } from 'vitest'
import type { Classes, Held } from '../fixtures/memory-server.ts'

const failed = new Set<string>()
const hanging: ServerResponse[] = []

/** Says what it was asked, in many places. */
const upstream = createServer((request, response) => {
  const [, kind, id] = request.url!.split('/') as [string, string, string]
  const send = (): void => {
    const text = JSON.stringify({ id, secret: `${id}-of-upstream`, list: Array.from({ length: 50 }, () => id) })
    response
      .writeHead(200, { 'content-type': 'application/json', etag: `"${id}"`, 'cache-control': 'no-store' })
      .end(text)
  }
  request.resume().on('end', () => {
    if (kind === 'json') send()
    else if (kind === 'late') setTimeout(send, 30)
    else if (kind === 'fails' || (kind === 'fails-once' && !failed.has(id))) {
      failed.add(id)
      response.writeHead(503, { 'retry-after': '0', 'x-why': id }).end(id)
    } else if (kind === 'large') response.writeHead(200, { etag: id }).end(`${id} `.repeat(100_000))
    else if (kind === 'stream') response.writeHead(200, { etag: id }).write(`${id} `)
    else if (kind === 'fails-once') send()
    else hanging.push(response)
  })
})
const folder = mkdtempSync(join(tmpdir(), 'gateway-memory-'))
const agent = new Agent({ keepAlive: true })
let child: ReturnType<typeof fork>
let port: number

beforeAll(async () => {
  upstream.listen(0, '127.0.0.1')
  await once(upstream, 'listening')
  child = fork(fileURLToPath(new URL('../fixtures/memory-server.ts', import.meta.url)), {
    execArgv: ['--expose-gc', '--allow-natives-syntax'],
    env: {
      ...process.env,
      NODE_ENV: 'production',
      UPSTREAM: `http://127.0.0.1:${(upstream.address() as AddressInfo).port}`,
    },
  })
  const [address] = (await once(child, 'message')) as [AddressInfo]
  port = address.port
})
afterAll(() => {
  child.kill('SIGKILL')
  agent.destroy()
  upstream.closeAllConnections()
  upstream.close()
  rmSync(folder, { recursive: true })
})

const tell = async (what: string): Promise<unknown> => {
  child.send(what)
  return ((await once(child, 'message')) as [unknown])[0]
}

/** Asks for a kind of response; gives its status, or nothing for a client that leaves. */
const ask = async (kind: string, id: string): Promise<number | undefined> => {
  const hasBody = kind === 'post' || kind === 'upload'
  const request = httpRequest({
    ...{ port, agent, path: `/${kind}/${id}`, method: hasBody ? 'POST' : 'GET' },
    headers: { 'x-secret': `${id}-of-header`, ...(hasBody ? { 'content-type': 'application/json' } : {}) },
  })
  request.on('error', () => {})
  request.end(hasBody ? JSON.stringify({ secret: `${id}-of-body` }) : undefined)
  if (kind === 'left') {
    const before = hanging.length
    await expect.poll(() => hanging.length).toBeGreaterThan(before)
    request.destroy()
    return undefined
  }
  const [response] = (await once(request, 'response')) as [IncomingMessage]
  if (kind === 'stream-left') {
    response.on('error', () => {})
    request.destroy()
    return undefined
  }
  await once(response.resume(), 'end')
  return response.statusCode
}

const KINDS: Readonly<Record<string, number | undefined>> = {
  ...{ call: 200, composed: 200, post: 200, hedged: 200, retried: 200, cached: 200, coalesced: 200, failed: 502 },
  ...{ late: 504, left: undefined, download: 200, 'stream-left': undefined, upload: 200 },
}

/** All kinds of requests, some at the same time; gives what is secret in them. */
const askAll = async (): Promise<string[]> => {
  const secrets: string[] = []
  for (const [kind, status] of Object.entries(KINDS)) {
    const id = `s${randomBytes(12).toString('hex')}`
    secrets.push(id)
    const statuses = await Promise.all([ask(kind, id), ask(kind, id), ask(kind, id)])
    expect([kind, ...statuses]).toEqual([kind, status, status, status])
  }
  return secrets
}

it('holds nothing of any kind of request when it idles', async () => {
  const secrets = [...(await askAll()), ...(await askAll())]
  // A kept-alive connection holds the AsyncLocalStorage of its last request, in Node's timer, with any server.
  await Promise.all(Array.from({ length: 10 }, () => ask('plain', '1')))
  const { alive, watched, snapshot } = (await tell(join(folder, 'idle.heapsnapshot'))) as Held
  expect(watched).toBeGreaterThan(100)
  expect(alive).toEqual([])
  const text = readFileSync(snapshot, 'latin1')
  // It has the texts of the process.
  expect(text).toContain('/stream-left/:id')
  expect(secrets.filter((secret) => text.includes(secret))).toEqual([])
})

it('keeps the hidden classes of the objects that requests make', async () => {
  for (let round = 0; round < 200; round++) await ask('call', 'x')
  await askAll()
  for (let round = 0; round < 200; round++) await ask('call', 'x')
  expect((await tell('which classes are kept?')) as Classes).toEqual({
    EndpointRequest: true,
    Attempt: true,
    Call: true,
    PooledRequest: true,
    RequestController: true,
    PendingReply: true,
  })
})
