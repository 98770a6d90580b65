// The log says why calls fail; clients are not told where upstreams are and what they say.

import { once } from 'node:events'
import { createServer as createTcpServer } from 'node:net'
import { Writable } from 'node:stream'
import { expect, it, onTestFinished, vi } from 'vitest'
import type { EndpointOptions, PassThroughEndpointOptions, UpstreamOptions } from '../../../src/index.ts'
import { gateway, nobody, sendJson, tcpUpstream, upstream } from '../../helpers/servers.ts'

interface Line {
  readonly level: number
  readonly msg: string
  readonly call?: string
  readonly upstream?: string
  readonly origin?: string
  readonly reason?: string
  readonly status?: number
  readonly repeated?: number
  readonly reqId?: string
  readonly err?: { readonly message: string }
}

/** A gateway with a logger, and its lines at `warn`. */
const logging = async (
  endpoint: EndpointOptions | PassThroughEndpointOptions,
  options: UpstreamOptions,
): Promise<{ ask: () => Promise<{ statusCode: number; body: string }>; lines: Line[] }> => {
  const lines: Line[] = []
  const stream = new Writable({
    write(chunk: Buffer, _encoding, done) {
      lines.push(
        ...chunk
          .toString()
          .trim()
          .split('\n')
          .map((line) => JSON.parse(line) as Line),
      )
      done()
    },
  })
  const app = await gateway({
    upstreams: { it: { circuitBreaker: false, ...options } },
    endpoints: [endpoint],
    fastify: { logger: { level: 'info', stream } },
  })
  return { ask: () => app.inject('/'), lines }
}

const warnings = (lines: readonly Line[]): Line[] => lines.filter(({ level }) => level === 40)

const CALL: EndpointOptions = { path: '/', timeout: 300, calls: { one: { upstream: 'it', path: '/' } } }
const OPTIONAL: EndpointOptions = { path: '/', calls: { one: { upstream: 'it', path: '/', optional: true } } }
const PASS: PassThroughEndpointOptions = { path: '/', timeout: 300, passThrough: { upstream: 'it', path: '/' } }

it.each<[string, EndpointOptions | PassThroughEndpointOptions, string, string]>([
  ['a call', CALL, 'call "one"', 'one'],
  ['an optional call', OPTIONAL, 'optional call "one"', 'one'],
  ['a pass-through', PASS, 'pass-through', 'passThrough'],
])(
  '%s that cannot connect says so at `warn`, with the address, and the client is not told',
  async (_, endpoint, what, call) => {
    const origin = await nobody()
    const { ask, lines } = await logging(endpoint, { origin })
    const { body } = await ask()
    const { host, port } = new URL(origin)
    expect(warnings(lines)).toMatchObject([
      {
        msg: `${what} to it did not respond: connect ECONNREFUSED ${host}`,
        call,
        upstream: 'it',
        origin,
        reason: 'connection',
        reqId: expect.any(String) as string,
        err: { message: `connect ECONNREFUSED ${host}` },
      },
    ])
    expect(body).not.toContain('ECONNREFUSED')
    expect(body).not.toContain(port)
  },
)

it('has the errors of all addresses of a host', async () => {
  const server = createTcpServer()
  server.listen(0, '127.0.0.1')
  await once(server, 'listening')
  const { port } = server.address() as { port: number }
  server.close()
  const lookup: UpstreamOptions['lookup'] = (_host, _options, done) => {
    done(null, [
      { address: '127.0.0.1', family: 4 },
      { address: '127.0.0.2', family: 4 },
    ])
  }
  const { ask, lines } = await logging(CALL, { origin: `http://several:${port}`, lookup })
  await ask()
  expect(warnings(lines).map(({ msg }) => msg)).toEqual([
    `call "one" to it did not respond: connect ECONNREFUSED 127.0.0.1:${port}, connect ECONNREFUSED 127.0.0.2:${port}`,
  ])
})

it.each<[string, () => Promise<string>, string]>([
  [
    'closes',
    () => tcpUpstream((socket) => void socket.once('data', () => socket.end())),
    'did not respond: other side closed',
  ],
  ['answers 500', () => upstream((_, response) => void response.writeHead(500).end()), 'responded 500'],
  ['sends no JSON', () => upstream((_, response) => sendJson(response, '{')), 'responded with a body that is not JSON'],
  ['hangs', () => upstream(() => {}), 'did not respond in time'],
])('says it of an upstream that %s', async (_, makeOrigin, message) => {
  const origin = await makeOrigin()
  const { ask, lines } = await logging(CALL, { origin })
  await ask()
  expect(warnings(lines)).toMatchObject([{ msg: `call "one" to it ${message}`, origin }])
})

it('has one line per origin and cause in 10 seconds, with the number of repetitions', async () => {
  let status = 500
  const first = await upstream((_, response) => void response.writeHead(status).end())
  const second = await nobody()
  const { ask, lines } = await logging(CALL, { origin: [first, second] })
  const now = vi.spyOn(performance, 'now')
  onTestFinished(() => now.mockRestore())
  for (let count = 0; count < 20; count++) await ask()
  expect(warnings(lines).map(({ msg }) => msg)).toEqual(['call "one" to it responded 500'])
  status = 404
  await ask()
  expect(warnings(lines).map(({ msg }) => msg)).toEqual([
    'call "one" to it responded 500',
    'call "one" to it responded 404',
  ])
  status = 500
  const before = performance.now()
  now.mockImplementation(() => before + 11_000)
  await ask()
  expect(warnings(lines).at(-1)).toMatchObject({ msg: 'call "one" to it responded 500', repeated: 19 })
})
