// Requests that HTTP cannot carry, such as by a header that a hook has set: no origin is to blame for them.

import type { FastifyInstance } from 'fastify'
import { describe, expect, it } from 'vitest'
import type { CallEnd, EndpointOptions, PassThroughEndpointOptions, UpstreamOptions } from '../../../src/index.ts'
import { gateway, jsonUpstream, upstream } from '../../helpers/servers.ts'

const call: EndpointOptions = { path: '/', calls: { one: { upstream: 'it', path: '/', forwardHeaders: ['x-user'] } } }
const optional: EndpointOptions = {
  path: '/',
  calls: { one: { upstream: 'it', path: '/', forwardHeaders: ['x-user'], optional: true, retries: 2 } },
}
const passThrough: PassThroughEndpointOptions = {
  path: '/',
  passThrough: { upstream: 'it', path: '/', forwardHeaders: ['x-user'] },
}

const before = async (
  endpoint: EndpointOptions | PassThroughEndpointOptions,
  options: Partial<UpstreamOptions> = {},
): Promise<{ app: FastifyInstance; seen: unknown[]; ends: CallEnd[] }> => {
  const seen: unknown[] = []
  const ends: CallEnd[] = []
  const origin = await jsonUpstream((_, { headers }) => seen.push(headers['x-user']))
  const app = await gateway({
    upstreams: { it: { origin: [origin, origin], circuitBreaker: { window: 3, resetTimeout: 60_000 }, ...options } },
    endpoints: [endpoint],
    observers: [{ callEnded: (_call, end) => void ends.push(end) }],
    status: true,
  })
  app.addHook('preHandler', async (request) => {
    if (request.query && (request.query as { user?: string }).user) {
      request.headers['x-user'] = (request.query as { user: string }).user
    }
  })
  return { app, seen, ends }
}

describe.each<[string, EndpointOptions | PassThroughEndpointOptions, Partial<UpstreamOptions>]>([
  ['a call', call, {}],
  ['a call to an upstream with a cache', call, { cache: true }],
  ['a pass-through', passThrough, {}],
  ['a pass-through to an upstream with a cache', passThrough, { cache: true }],
])('%s whose header no request can have', (_, endpoint, options) => {
  it.each(['Łukasz', 'a\r\nx-admin: 1'])('(%j) fails alone: circuits stay closed', async (user) => {
    const { app, seen, ends } = await before(endpoint, options)
    for (let count = 0; count < 12; count++) {
      const { statusCode, json } = await app.inject({ url: '/', query: { user } })
      expect([statusCode, json<{ code: string; message: string }>()]).toMatchObject([
        400,
        { code: 'AGGREGATOR_GATEWAY_BAD_PARAMETER', message: 'The header "x-user" has characters that cannot be sent' },
      ])
    }
    expect(ends).toEqual([])
    const { upstreams } = (await app.inject('/__gateway')).json<{ upstreams: { it: object[] } }>()
    const idle = { circuit: 'closed', pending: 0, streams: 0, connected: 0 }
    expect(upstreams.it).toMatchObject([idle, idle])
    expect((await app.inject({ url: '/', query: { user: 'Lukasz' } })).statusCode).toBe(200)
    expect(seen).toEqual(['Lukasz'])
  })
})

it('is a 400 for an optional call, too', async () => {
  const { app, seen, ends } = await before(optional)
  expect((await app.inject({ url: '/', query: { user: 'Łukasz' } })).statusCode).toBe(400)
  expect([seen, ends]).toEqual([[], []])
})

it('does not close an open circuit', async () => {
  let asked = 0
  const origin = await upstream((_, response) => {
    asked++
    response.writeHead(500).end()
  })
  const { app } = await before(call, { origin, circuitBreaker: { window: 1, resetTimeout: 1 } })
  expect((await app.inject('/')).statusCode).toBe(502)
  await new Promise((resolve) => setTimeout(resolve, 20))
  // The circuit lets one request try the origin.
  await app.inject({ url: '/', query: { user: 'Łukasz' } })
  const { upstreams } = (await app.inject('/__gateway')).json<{ upstreams: { it: object[] } }>()
  expect([asked, upstreams.it]).toMatchObject([1, [{ circuit: 'open' }]])
})
