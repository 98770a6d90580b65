import { describe, expect, it } from 'vitest'
import type { FastifyInstance } from 'fastify'
import type { CircuitBreakerOptions } from '../../../src/index.ts'
import { gateway, jsonUpstream, sendJson, upstream } from '../../helpers/servers.ts'

/** An upstream that answers with a status which can be set; 0 does not answer. */
async function settable(): Promise<{ url: string; seen: () => number; answer: (status: number) => void }> {
  let status = 200
  let seen = 0
  const url = await upstream((_, response) => {
    seen++
    if (status === 200) sendJson(response, '1')
    else if (status > 0) response.writeHead(status).end()
  })
  return { url, seen: () => seen, answer: (next) => void (status = next) }
}

/** `timeout`: of those that do not answer; a busy machine may take a second for those that do. */
const before = (
  url: string | string[],
  circuitBreaker: false | CircuitBreakerOptions = {},
  timeout = 10_000,
): Promise<FastifyInstance> =>
  gateway({
    upstreams: { it: { origin: url, circuitBreaker } },
    endpoints: [{ path: '/', timeout, calls: { one: { upstream: 'it', path: '/' } } }],
  })

const codes = async (app: FastifyInstance, times: number): Promise<unknown[]> => {
  const found: unknown[] = []
  for (let count = 0; count < times; count++) {
    const answer = await app.inject('/')
    found.push(answer.statusCode === 200 ? 200 : answer.json<{ code: string }>().code)
  }
  return found
}

const times = (count: number, what: unknown): unknown[] => Array.from({ length: count }, () => what)

describe('an origin', () => {
  it.each([500, 502, 503, 504])('that responds %i to most of the last 20 calls is no longer called', async (status) => {
    const server = await settable()
    const app = await before(server.url, { resetTimeout: 60_000 })
    expect(await codes(app, 30)).toEqual(times(30, 200))
    server.answer(status)
    expect(await codes(app, 11)).toEqual(times(11, 'AGGREGATOR_GATEWAY_UPSTREAM_FAILED'))
    expect(await codes(app, 20)).toEqual(times(20, 'AGGREGATOR_GATEWAY_CIRCUIT_OPEN'))
    expect(server.seen()).toBe(41)
  })

  it('that hangs is no longer called', async () => {
    const server = await settable()
    server.answer(0)
    const app = await before(server.url, { window: 3, resetTimeout: 60_000 }, 100)
    expect(await codes(app, 5)).toEqual([
      ...times(3, 'AGGREGATOR_GATEWAY_UPSTREAM_TIMEOUT'),
      ...times(2, 'AGGREGATOR_GATEWAY_CIRCUIT_OPEN'),
    ])
  })

  it.each([400, 404, 429])('that responds %i counts as working', async (status) => {
    const server = await settable()
    server.answer(status)
    const app = await before(server.url)
    expect(await codes(app, 50)).toEqual(times(50, 'AGGREGATOR_GATEWAY_UPSTREAM_FAILED'))
  })

  it('that fails half of its calls is still called', async () => {
    let count = 0
    const origin = await upstream((_, response) => {
      if (count++ % 2 === 0) sendJson(response, '1')
      else response.writeHead(500).end()
    })
    expect(new Set(await codes(await before(origin), 60))).toEqual(new Set([200, 'AGGREGATOR_GATEWAY_UPSTREAM_FAILED']))
  })

  it('is always called without a circuit breaker', async () => {
    const server = await settable()
    server.answer(500)
    const app = await before(server.url, false)
    expect(await codes(app, 50)).toEqual(times(50, 'AGGREGATOR_GATEWAY_UPSTREAM_FAILED'))
  })

  it('is probed by one call at a time, and called again after a success', async () => {
    const server = await settable()
    server.answer(500)
    const app = await before(server.url, { window: 5, resetTimeout: 1000 })
    expect(await codes(app, 5)).toEqual(times(5, 'AGGREGATOR_GATEWAY_UPSTREAM_FAILED'))
    await expect.poll(async () => (await codes(app, 1))[0]).toBe('AGGREGATOR_GATEWAY_UPSTREAM_FAILED')
    expect(await codes(app, 5)).toEqual(times(5, 'AGGREGATOR_GATEWAY_CIRCUIT_OPEN'))
    expect(server.seen()).toBe(6)
    server.answer(200)
    await expect.poll(async () => (await codes(app, 1))[0]).toBe(200)
    expect(await codes(app, 10)).toEqual(times(10, 200))
    // What was before is forgotten: it takes as many failures as at first.
    server.answer(500)
    expect((await codes(app, 3)).at(-1)).toBe('AGGREGATOR_GATEWAY_UPSTREAM_FAILED')
  })

  it('that recovers is called again, even if the probe before it hung', async () => {
    const server = await settable()
    server.answer(0)
    const app = await before(server.url, { window: 2, resetTimeout: 50 }, 100)
    await codes(app, 4)
    server.answer(200)
    await expect.poll(async () => (await codes(app, 1))[0]).toBe(200)
  })
})

it('a working origin gets the calls of a broken one', async () => {
  const broken = await settable()
  broken.answer(500)
  const working = await jsonUpstream(() => 1)
  const app = await before([broken.url, working], { window: 4, resetTimeout: 60_000 })
  const first = await codes(app, 8)
  expect(first.filter((code) => code === 200)).toHaveLength(4)
  expect(await codes(app, 20)).toEqual(times(20, 200))
  expect(broken.seen()).toBe(4)
})

it('an open circuit is the reason of a missing optional call', async () => {
  const { url, answer } = await settable()
  answer(500)
  const app = await gateway({
    upstreams: { it: { origin: url, circuitBreaker: { window: 1 } } },
    endpoints: [{ path: '/', calls: { one: { upstream: 'it', path: '/', optional: true } } }],
  })
  await app.inject('/')
  const { statusCode, headers } = await app.inject('/')
  expect([statusCode, headers['x-gateway-missing']]).toEqual([502, 'one;reason=circuit-open'])
})

it('counts each late call at the deadline, also those after a required one', async () => {
  const servers = await Promise.all([settable(), settable()])
  for (const server of servers) server.answer(0)
  const circuitBreaker = { window: 2, resetTimeout: 60_000 }
  const app = await gateway({
    upstreams: {
      first: { origin: servers[0].url, circuitBreaker },
      second: { origin: servers[1].url, circuitBreaker },
    },
    endpoints: [
      {
        path: '/',
        timeout: 50,
        calls: { one: { upstream: 'first', path: '/' }, two: { upstream: 'second', path: '/' } },
      },
    ],
    status: true,
  })
  expect(await codes(app, 2)).toEqual(times(2, 'AGGREGATOR_GATEWAY_UPSTREAM_TIMEOUT'))
  const { upstreams } = (await app.inject('/__gateway')).json<{ upstreams: Record<string, { circuit: string }[]> }>()
  expect(Object.values(upstreams).map(([origin]) => origin!.circuit)).toEqual(['open', 'open'])
})
