import { once } from 'node:events'
import { get, type ClientRequest, type IncomingMessage, type ServerResponse } from 'node:http'
import { describe, expect, it } from 'vitest'
import type { FastifyInstance } from 'fastify'
import type { CallOptions, EndpointOptions } from '../../../src/index.ts'
import { gateway, sendJson, upstream } from '../../helpers/servers.ts'

interface Waiting {
  origin: string
  /** What was asked, with those who wait for an answer. */
  seen: { path: string; response: ServerResponse }[]
  answerAll: (text?: string) => void
}

/** An upstream that answers when it is told to. */
async function waiting(): Promise<Waiting> {
  const seen: Waiting['seen'] = []
  let told = 0
  const origin = await upstream((request, response) => void seen.push({ path: request.url!, response }))
  return {
    origin,
    seen,
    answerAll: (text = '1') => {
      for (; told < seen.length; told++) sendJson(seen[told]!.response, text)
    },
  }
}

const before = (
  { origin }: Waiting,
  endpoint: Partial<EndpointOptions> = { coalesce: true },
  call: Partial<CallOptions> = {},
  ofGateway?: boolean,
): Promise<FastifyInstance> =>
  gateway({
    upstreams: { it: origin },
    ...(ofGateway === undefined ? {} : { coalesce: ofGateway }),
    endpoints: [
      { path: '/:id', calls: { one: { upstream: 'it', path: '/{params.id}', ...call } }, ...endpoint },
    ] as EndpointOptions[],
  })

type Ask = { url?: string; headers?: Record<string, string> }

/** How often the upstream is asked for these requests, all at the same time. */
async function callsFor(
  asks: readonly Ask[],
  ...options: Parameters<typeof before> extends [unknown, ...infer Rest] ? Rest : never
): Promise<number> {
  const server = await waiting()
  const app = await before(server, ...options)
  const answers = asks.map(({ url = '/7', headers = {} }) =>
    app.inject({ url, headers }).then(({ statusCode, body }) => [statusCode, body]),
  )
  // The last one has come when what follows it is answered.
  await app.inject('/not/there')
  await expect.poll(() => server.seen.length).toBeGreaterThan(0)
  const pump = setInterval(server.answerAll, 1)
  expect(new Set((await Promise.all(answers)).map(String))).toEqual(new Set(['200,{"one":1}']))
  clearInterval(pump)
  return server.seen.length
}

describe('equal requests at the same time', () => {
  const ten = Array.from({ length: 10 }, () => ({}))

  it('share one call', async () => {
    expect(await callsFor(ten)).toBe(1)
  })

  it('do not share a call by default', async () => {
    expect(await callsFor(ten, {})).toBe(10)
  })

  it("share one call by the gateway's option", async () => {
    expect(await callsFor(ten, {}, {}, true)).toBe(1)
    expect(await callsFor(ten, { coalesce: false }, {}, true)).toBe(10)
  })

  it.each(['authorization', 'cookie'])(
    'are not by the option of the gateway, when a call hands on %s',
    async (name) => {
      const asks = ten.map(() => ({ headers: { [name]: 'same' } }))
      expect(await callsFor(asks, {}, { forwardHeaders: [name] }, true)).toBe(10)
      expect(await callsFor(asks, { coalesce: true }, { forwardHeaders: [name] }, true)).toBe(1)
    },
  )

  it('are equal if only their other headers differ', async () => {
    expect(await callsFor([{ headers: { cookie: 'a=1' } }, { headers: { cookie: 'a=2', accept: '*/*' } }])).toBe(1)
    expect(await callsFor([{ url: '/7?a=1' }, { url: '/7?a=2' }])).toBe(1)
  })
})

describe('requests are not equal', () => {
  it.each<[string, readonly Ask[], Partial<CallOptions>]>([
    ['by their path', [{ url: '/7' }, { url: '/8' }], {}],
    ['by their query', [{ url: '/7?a=1' }, { url: '/7?a=2' }], { path: '/{query.a}' }],
    ['by a parameter that is forwarded', [{ url: '/7?a=1' }, { url: '/7?a=2' }], { forwardQuery: ['a'] }],
    [
      'by a header that is handed on',
      [{ headers: { authorization: 'a' } }, { headers: { authorization: 'b' } }],
      { forwardHeaders: ['authorization'] },
    ],
    ['by a header that one lacks', [{ headers: { 'x-a': '1' } }, {}], { forwardHeaders: ['x-a'] }],
    [
      'by a header that is in a path',
      [{ headers: { 'x-tenant': 'a' } }, { headers: { 'x-tenant': 'b' } }],
      { path: '/{headers.x-tenant}' },
    ],
    [
      'by headers whose values look like others',
      [{ headers: { 'x-a': '1","2' } }, { headers: { 'x-a': '1', 'x-b': '2' } }],
      { forwardHeaders: ['x-a', 'x-b'] },
    ],
  ])('%s', async (_, asks, call) => {
    expect(await callsFor(asks, { coalesce: true }, call)).toBe(2)
  })
})

it('a request after the response makes a new call', async () => {
  const server = await waiting()
  const app = await before(server)
  for (const text of ['"first"', '"second"']) {
    const answer = app.inject('/7').then(({ body }) => body)
    await expect.poll(() => server.seen.at(-1)?.response.writableEnded).toBe(false)
    server.answerAll(text)
    expect(await answer).toBe(`{"one":${text}}`)
  }
})

it('all of them get a failure', async () => {
  const server = await waiting()
  const app = await before(server)
  const answers = [1, 2, 3].map(() => app.inject('/7').then((answer) => answer))
  await expect.poll(() => server.seen.length).toBe(1)
  server.seen[0]!.response.writeHead(404).end()
  for (const { statusCode, json } of await Promise.all(answers)) {
    expect([statusCode, json<{ code: string }>().code]).toEqual([502, 'AGGREGATOR_GATEWAY_UPSTREAM_FAILED'])
  }
})

describe('a client that leaves', () => {
  const asking = async (app: FastifyInstance, count: number): Promise<ClientRequest[]> => {
    const origin = await app.listen({ port: 0, host: '127.0.0.1' })
    return Array.from({ length: count }, () => get(`${origin}/7`).on('error', () => {}))
  }

  it('does not affect the others', async () => {
    const server = await waiting()
    const app = await before(server)
    let joined = 0
    app.server.on('request', () => joined++)
    const [first, second] = await asking(app, 2)
    const answer = once(second!, 'response') as Promise<[IncomingMessage]>
    await expect.poll(() => joined).toBe(2)
    await expect.poll(() => server.seen.length).toBe(1)
    first!.destroy()
    // Time for the gateway to see it.
    await new Promise((resolve) => setTimeout(resolve, 50))
    expect(server.seen[0]!.response.closed).toBe(false)
    server.answerAll()
    const [response] = await answer
    expect(Buffer.concat(await response.toArray()).toString()).toBe('{"one":1}')
  })

  it('as the last one aborts the calls', async () => {
    const server = await waiting()
    const clients = await asking(await before(server), 3)
    await expect.poll(() => server.seen.length).toBe(1)
    for (const client of clients) client.destroy()
    await expect.poll(() => server.seen[0]!.response.closed).toBe(true)
  })
})
