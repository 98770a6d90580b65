import { get } from 'node:http'
import type { ServerResponse } from 'node:http'
import { describe, expect, it } from 'vitest'
import type { CallOptions, EndpointOptions, GatewayObserver, UpstreamOptions } from '../../../src/index.ts'
import { gateway, jsonUpstream, sendJson, upstream } from '../../helpers/servers.ts'

type Call = Omit<CallOptions, 'upstream'>

/** A gateway with a list of orders, and a call for each. */
const gatewayFor = async (
  orders: unknown,
  each: Partial<Call> = {},
  {
    answer = (path) => path,
    options = {},
    endpoint = {},
    observers = [],
  }: {
    answer?: (path: string) => unknown
    options?: Partial<UpstreamOptions>
    endpoint?: Partial<EndpointOptions>
    observers?: GatewayObserver[]
  } = {},
) => {
  const seen: string[] = []
  let running = 0
  let mostRunning = 0
  const origin = await upstream((request, response) => {
    if (request.url === '/orders') return sendJson(response, JSON.stringify(orders))
    seen.push(request.url!)
    mostRunning = Math.max(mostRunning, ++running)
    setTimeout(() => {
      running--
      const value = answer(request.url!)
      if (typeof value === 'number') response.writeHead(value).end()
      else sendJson(response, JSON.stringify(value))
    }, 2)
  })
  const calls = {
    orders: { upstream: 'it', path: '/orders' },
    details: { upstream: 'it', path: '/products/{item.id}', forEach: '{calls.orders.items}', ...each },
  }
  const app = await gateway({
    upstreams: { it: { origin, ...options } },
    endpoints: [{ path: '/', calls, ...endpoint }] as EndpointOptions[],
    observers,
  })
  return { app, seen, most: () => mostRunning }
}

const items = (...ids: unknown[]) => ({ items: ids.map((id) => ({ id })) })

describe('a call with forEach', () => {
  it('is made for each item, and its responses have the order of the items', async () => {
    const { app } = await gatewayFor(items(3, 1, 2))
    const { details } = (await app.inject('/')).json<{ details: unknown }>()
    expect(details).toEqual(['/products/3', '/products/1', '/products/2'])
  })

  it('asks for duplicates once', async () => {
    const { app, seen } = await gatewayFor(items('a', 'b', 'a', 'a', 'b'))
    const { details } = (await app.inject('/')).json<{ details: string[] }>()
    expect(details.map((one) => one.at(-1)).join('')).toBe('abaab')
    expect(seen.toSorted()).toEqual(['/products/a', '/products/b'])
  })

  it.each([1, 3])('makes at most %i calls at the same time', async (concurrency) => {
    const { app, most, seen } = await gatewayFor(items(...Array.from({ length: 20 }, (_, id) => id)), {
      forEach: { items: '{calls.orders.items}', concurrency },
    })
    expect((await app.inject('/')).statusCode).toBe(200)
    expect([seen.length, most()]).toEqual([20, concurrency])
  })

  it('responds with an empty array to an empty list, without a call', async () => {
    const { app, seen } = await gatewayFor(items())
    expect((await app.inject('/')).json()).toEqual({ orders: { items: [] }, details: [] })
    expect(seen).toEqual([])
  })

  it('has items that are values', async () => {
    const { app } = await gatewayFor(
      { items: [7, 'x', true] },
      { path: '/products/{item}?of={params.a}' },
      { endpoint: { path: '/:a' } },
    )
    expect((await app.inject('/9')).json<{ details: unknown }>().details).toEqual([
      ...['/products/7?of=9', '/products/x?of=9', '/products/true?of=9'],
    ])
  })

  it('keeps a large number of an item exact', async () => {
    const origin = await upstream((request, response) =>
      sendJson(response, request.url === '/orders' ? '{"items":[{"id":12345678901234567890}]}' : `"${request.url}"`),
    )
    const calls = {
      orders: { upstream: 'it', path: '/orders' },
      details: { upstream: 'it', path: '/{item.id}', forEach: '{calls.orders.items}' },
    }
    const app = await gateway({ upstreams: { it: origin }, endpoints: [{ path: '/', calls }] })
    expect((await app.inject('/')).json<{ details: unknown }>().details).toEqual(['/12345678901234567890'])
  })

  it('maps each response', async () => {
    const answer = (path: string) => ({ data: { path, other: 1 } })
    const { app } = await gatewayFor(items(1, 2), { target: 'data', pick: ['path'] }, { answer })
    expect((await app.inject('/')).json<{ details: unknown }>().details).toEqual([
      { path: '/products/1' },
      { path: '/products/2' },
    ])
  })

  it('gives its array to calls that need it', async () => {
    const calls = {
      ...{ orders: { upstream: 'it', path: '/orders' } },
      details: { upstream: 'it', path: '/products/{item.id}', forEach: '{calls.orders.items}' },
      more: { upstream: 'it', path: '/more/{item.next}/x', forEach: '{calls.details}' },
    }
    const origin = await jsonUpstream((path) => (path === '/orders' ? items(1, 2) : { path, next: path.length }))
    const chained = await gateway({ upstreams: { it: origin }, endpoints: [{ path: '/', calls }] })
    expect((await chained.inject('/')).json<{ more: unknown }>().more).toMatchObject([
      { path: '/more/11/x' },
      { path: '/more/11/x' },
    ])
  })
})

describe('items without a response', () => {
  const answer = (path: string): unknown => (path === '/products/2' ? 404 : path)

  it('are null if the call is optional, and the header counts them', async () => {
    const { app } = await gatewayFor(items(1, 2, 3, 2), { optional: true }, { answer })
    const { headers, json } = await app.inject('/')
    expect(json<{ details: unknown }>().details).toEqual(['/products/1', null, '/products/3', null])
    expect([headers['x-gateway-complete'], headers['x-gateway-missing']]).toEqual([
      'false',
      'details;reason=status;items=2',
    ])
  })

  it('fail a required call', async () => {
    const { app } = await gatewayFor(items(1, 2, 3), {}, { answer })
    const { statusCode, json } = await app.inject('/')
    expect([statusCode, json<{ message: string }>().message]).toEqual([502, 'The call "details" to it responded 404'])
  })

  it('fail the request if all items of all calls failed', async () => {
    const origin = await upstream((_request, response) => void response.writeHead(404).end())
    const calls = { details: { upstream: 'it', path: '/{item}', forEach: '{query.id}', optional: true } }
    const failing = await gateway({ upstreams: { it: origin }, endpoints: [{ path: '/', calls }] })
    expect((await failing.inject('/?id=1&id=2')).statusCode).toBe(502)
  })

  it('are those that have no value for the path', async () => {
    const { app } = await gatewayFor({ items: [{ id: 1 }, {}, 'x', null] }, { optional: true })
    const { headers, json } = await app.inject('/')
    expect(json<{ details: unknown }>().details).toEqual(['/products/1', null, null, null])
    expect(headers['x-gateway-missing']).toBe('details;reason=dependency;items=3')
  })

  it('fail a required call before its first request', async () => {
    const { app, seen } = await gatewayFor({ items: [{ id: 1 }, {}] })
    const { statusCode, json } = await app.inject('/')
    expect([statusCode, json<{ message: string }>().message]).toEqual([
      502,
      'The call "details" to it was not called: {item.id} is missing',
    ])
    expect(seen).toEqual([])
  })

  it('are those that are late at the deadline, while the others are kept', async () => {
    const open: ServerResponse[] = []
    const origin = await upstream((request, response) => {
      if (request.url === '/2') open.push(response)
      else sendJson(response, `"${request.url}"`)
    })
    const calls = { one: { upstream: 'it', path: '/{item}', forEach: '{query.id}', optional: true } }
    const app = await gateway({ upstreams: { it: origin }, endpoints: [{ path: '/', timeout: 300, calls }] })
    const { headers, json } = await app.inject('/?id=1&id=2&id=3')
    expect(json()).toEqual({ one: ['/1', null, '/3'] })
    expect(headers['x-gateway-missing']).toBe('one;reason=timeout;items=1')
    await expect.poll(() => open[0]!.closed).toBe(true)
  })

  it('share the timeout of the call', async () => {
    const origin = await upstream((request, response) => {
      if (request.url === '/1') sendJson(response, '1')
    })
    const each = { upstream: 'it', path: '/{item}', forEach: { items: '{query.id}', concurrency: 1 }, timeout: 200 }
    const app = await gateway({
      upstreams: { it: origin },
      endpoints: [
        { path: '/partial', timeout: 60_000, calls: { one: { ...each, optional: true } } },
        { path: '/required', timeout: 60_000, calls: { one: each } },
      ],
    })
    // A timeout for each item would take 2 s.
    const ids = '?id=1&id=2&id=3&id=4&id=5&id=6&id=7&id=8&id=9&id=10'
    const { headers, json } = await app.inject(`/partial${ids}`)
    expect(json()).toEqual({ one: [1, ...Array.from({ length: 9 }, () => null)] })
    expect(headers['x-gateway-missing']).toBe('one;reason=timeout;items=9')
    expect((await app.inject(`/required${ids}`)).statusCode).toBe(504)
  })

  it('are those above maxResponseBytes together', async () => {
    const { app } = await gatewayFor(
      items(1, 2, 3, 3),
      { optional: true, forEach: { items: '{calls.orders.items}', concurrency: 1 } },
      {
        answer: () => 'x'.repeat(98),
        options: { maxResponseBytes: 250 },
      },
    )
    const { headers, json } = await app.inject('/')
    expect(json<{ details: unknown[] }>().details.map((one) => one === null)).toEqual([false, false, true, true])
    expect(headers['x-gateway-missing']).toBe('details;reason=too-large;items=2')
  })
})

describe('a list that cannot be used', () => {
  it.each([
    ['is no array', { items: { a: 1 } }, '{calls.orders.items} is no array'],
    ['is a text', { items: 'abc' }, '{calls.orders.items} is no array'],
    ['is null', { items: null }, '{calls.orders.items} is null'],
    ['is missing', {}, '{calls.orders.items} is missing'],
    [
      'has 100,000 items',
      { items: Array.from({ length: 100_000 }, () => 1) },
      '{calls.orders.items} has 100000 items, more than maxItems (1000)',
    ],
  ])('fails the call: it %s', async (_title, orders, message) => {
    const { app, seen } = await gatewayFor(orders)
    const { statusCode, json } = await app.inject('/')
    expect([statusCode, json()]).toEqual([
      502,
      expect.objectContaining({
        code: 'AGGREGATOR_GATEWAY_UPSTREAM_FAILED',
        message: `The call "details" to it was not called: ${message}`,
      }),
    ])
    expect(seen).toEqual([])
  })

  it('makes an optional call null', async () => {
    const { app } = await gatewayFor({ items: 1 }, { optional: true })
    const { headers, json } = await app.inject('/')
    expect(json()).toEqual({ orders: { items: 1 }, details: null })
    expect(headers['x-gateway-missing']).toBe('details;reason=dependency')
  })

  it.each([
    ['no array', { ids: { a: 1 } }, '{body.ids} is no array'],
    ['missing', {}, '{body.ids} is missing'],
    ['an item without a value', { ids: [1, { a: 1 }] }, '{item} is no single value'],
    ['an item that leaves its path', { ids: ['..'] }, '{item} has a dot segment'],
    [
      '100,000 items',
      { ids: Array.from({ length: 100_000 }, () => 1) },
      '{body.ids} has 100000 items, more than maxItems (1000)',
    ],
  ])('responds 400 to a client: %s', async (_title, payload, message) => {
    let asked = 0
    const origin = await jsonUpstream(() => ++asked)
    const calls = { one: { upstream: 'it', path: '/{item}', forEach: '{body.ids}', optional: true } }
    const app = await gateway({ upstreams: { it: origin }, endpoints: [{ path: '/', method: 'POST', calls }] })
    const { statusCode, json } = await app.inject({ method: 'POST', url: '/', payload })
    expect([statusCode, json()]).toEqual([
      400,
      expect.objectContaining({ code: 'AGGREGATOR_GATEWAY_BAD_PARAMETER', message }),
    ])
    expect(asked).toBe(0)
  })
})

it('takes a query parameter that is not repeated for a list of one', async () => {
  const origin = await jsonUpstream((path) => path)
  const calls = { one: { upstream: 'it', path: '/{item}', forEach: '{query.id}' } }
  const app = await gateway({ upstreams: { it: origin }, endpoints: [{ path: '/', calls }] })
  expect((await app.inject('/?id=7')).json()).toEqual({ one: ['/7'] })
  expect((await app.inject('/')).statusCode).toBe(400)
})

describe('under load', () => {
  it('a full queue lowers the concurrency of admitted requests, and none is lost', async () => {
    const { app, seen } = await gatewayFor(
      items(...Array.from({ length: 30 }, (_, id) => id)),
      { forEach: { items: '{calls.orders.items}', concurrency: 30 } },
      { options: { maxConnections: 2, maxQueue: 4 } },
    )
    const responses = await Promise.all([1, 2, 3].map(() => app.inject('/')))
    expect(responses.map(({ statusCode }) => statusCode)).toEqual([200, 200, 200])
    expect(seen).toHaveLength(90)
  })

  it('an open circuit fails all items immediately', async () => {
    const { app, seen } = await gatewayFor(
      items(...Array.from({ length: 1000 }, (_, id) => id)),
      { optional: true, forEach: { items: '{calls.orders.items}', concurrency: 1 } },
      { answer: () => 503, options: { circuitBreaker: { window: 4, resetTimeout: 60_000 } } },
    )
    const { headers, json } = await app.inject('/')
    expect(json<{ details: unknown[] }>().details).toHaveLength(1000)
    expect(headers['x-gateway-missing']).toBe('details;reason=status;items=1000')
    expect(seen.length).toBeLessThan(10)
  })

  it('a client that leaves aborts the running calls, and no further ones start', async () => {
    const open: ServerResponse[] = []
    const origin = await upstream((_request, response) => void open.push(response))
    const calls = { one: { upstream: 'it', path: '/{item}', forEach: { items: '{query.id}', concurrency: 2 } } }
    const app = await gateway({ upstreams: { it: origin }, endpoints: [{ path: '/', timeout: 60_000, calls }] })
    const address = await app.listen({ port: 0, host: '127.0.0.1' })
    const client = get(`${address}/?id=1&id=2&id=3&id=4`).on('error', () => {})
    await expect.poll(() => open.length).toBe(2)
    client.destroy()
    await expect.poll(() => open.every(({ closed }) => closed)).toBe(true)
    expect(open).toHaveLength(2)
  })
})

it('retries items, and observers see one call', async () => {
  let failures = 2
  const ends: unknown[] = []
  const { app } = await gatewayFor(
    items(1, 2, 3),
    { retries: 2 },
    {
      answer: (path) => (failures-- > 0 ? 503 : path),
      options: { retryBudget: 1 },
      observers: [{ callEnded: ({ name }, { attempts, reason }) => void ends.push([name, attempts, reason]) }],
    },
  )
  expect((await app.inject('/')).json<{ details: unknown[] }>().details).toHaveLength(3)
  expect(ends).toEqual([
    ['orders', 1, undefined],
    ['details', 5, undefined],
  ])
})
