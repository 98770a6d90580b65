import Fastify from 'fastify'
import { Registry, register } from 'prom-client'
import { expect, it } from 'vitest'
import { gatewayPlugin } from '../../../src/index.ts'
import { prometheusObserver } from '../../../src/observability/prometheus.ts'
import { gateway, jsonUpstream, nobody, sendJson, upstream } from '../../helpers/servers.ts'

/** The lines of a metric, without its help. */
const linesOf = async (registry: Registry, name: string): Promise<string[]> =>
  (await registry.metrics()).split('\n').filter((line) => new RegExp(`^${name}(_count|_bucket)?\\{`).test(line))

it('times calls in seconds, and counts failures by reason', async () => {
  const registry = new Registry()
  const origin = await upstream((request, response) => {
    if (request.url === '/no') response.writeHead(404).end()
    else sendJson(response, '1')
  })
  const app = await gateway({
    upstreams: { it: origin },
    endpoints: [
      {
        path: '/of/:id',
        calls: {
          yes: { upstream: 'it', path: '/yes/{params.id}?q={query.q}' },
          no: { upstream: 'it', path: '/no', optional: true },
        },
      },
    ],
    observers: [prometheusObserver({ registry, buckets: [0.5, 30] })],
  })
  for (const id of ['7', 'secret', '9']) await app.inject(`/of/${id}?q=token`)
  const labels = (call: string): string => `method="GET",route="/of/:id",call="${call}",upstream="it"`
  const durations = await linesOf(registry, 'gateway_call_duration_seconds')
  expect(durations).toEqual(
    expect.arrayContaining(
      ['yes', 'no'].flatMap((call) => [
        `gateway_call_duration_seconds_bucket{le="30",${labels(call)}} 3`,
        `gateway_call_duration_seconds_bucket{le="+Inf",${labels(call)}} 3`,
        `gateway_call_duration_seconds_count{${labels(call)}} 3`,
      ]),
    ),
  )
  expect(await linesOf(registry, 'gateway_call_failures_total')).toEqual([
    `gateway_call_failures_total{${labels('no')},reason="status"} 3`,
  ])
  // Whatever clients ask for: no value of theirs is a label.
  expect(await registry.metrics()).not.toMatch(/secret|token/)
})

it('counts retries and hedges', async () => {
  const registry = new Registry()
  let asked = 0
  const origin = await upstream((request, response) => {
    if (request.url === '/late' && ++asked === 1) return
    if (request.url === '/again' && ++asked < 3) response.writeHead(503, { 'retry-after': '0' }).end()
    else sendJson(response, '1')
  })
  const app = await gateway({
    upstreams: { it: { origin, retryBudget: 1, hedgeBudget: 1 } },
    endpoints: [
      { path: '/again', calls: { one: { upstream: 'it', path: '/again', retries: 2 } } },
      { path: '/late', calls: { one: { upstream: 'it', path: '/late', hedge: 10 } } },
    ],
    observers: [prometheusObserver({ registry })],
  })
  expect((await app.inject('/again')).statusCode).toBe(200)
  asked = 0
  expect((await app.inject('/late')).statusCode).toBe(200)
  expect(await linesOf(registry, 'gateway_call_retries_total')).toEqual([
    'gateway_call_retries_total{method="GET",route="/again",call="one",upstream="it"} 2',
  ])
  expect(await linesOf(registry, 'gateway_call_hedges_total')).toEqual([
    'gateway_call_hedges_total{method="GET",route="/late",call="one",upstream="it"} 1',
  ])
  expect(await linesOf(registry, 'gateway_call_failures_total')).toEqual([])
})

it('shows the current origins of all open gateways', async () => {
  const registry = new Registry()
  const observer = prometheusObserver({ registry })
  const waiting: (() => void)[] = []
  const slow = await upstream((_, response) => void waiting.push(() => sendJson(response, '1')))
  const broken = await nobody()
  const app = Fastify()
  const calls = (name: string) => ({ one: { upstream: name, path: '/' } })
  await app.register(gatewayPlugin, {
    upstreams: { slow },
    endpoints: [{ path: '/slow', calls: calls('slow') }],
    observers: [observer],
  })
  await app.register(gatewayPlugin, {
    prefix: '/other',
    upstreams: { broken: { origin: broken, circuitBreaker: { window: 2, resetTimeout: 60_000 } }, slow },
    endpoints: [
      { path: '/broken', calls: calls('broken') },
      { path: '/slow', calls: calls('slow') },
    ],
    observers: [observer],
  })
  const answers = ['/slow', '/other/slow'].map((url) => app.inject(url).then(({ statusCode }) => statusCode))
  await expect.poll(() => waiting).toHaveLength(2)
  for (const _ of [1, 2, 3]) await app.inject('/other/broken')
  const shown = async (name: string): Promise<string[]> => linesOf(registry, name)
  const [ofSlow, ofBroken] = [`{upstream="slow",origin="${slow}"}`, `{upstream="broken",origin="${broken}"}`]
  for (const _ of [1, 2]) {
    expect(await shown('gateway_origin_circuit_open')).toEqual([
      `gateway_origin_circuit_open${ofSlow} 0`,
      `gateway_origin_circuit_open${ofBroken} 1`,
    ])
    expect(await shown('gateway_origin_pending_calls')).toEqual([
      `gateway_origin_pending_calls${ofSlow} 2`,
      `gateway_origin_pending_calls${ofBroken} 0`,
    ])
    expect(await shown('gateway_origin_connections')).toEqual([
      `gateway_origin_connections${ofSlow} 2`,
      `gateway_origin_connections${ofBroken} 0`,
    ])
  }
  for (const answer of waiting) answer()
  expect(await Promise.all(answers)).toEqual([200, 200])
  await app.close()
  expect(await shown('gateway_origin_circuit_open')).toEqual([])
})

it('takes the registry of prom-client when there is no other', async () => {
  const app = await gateway({
    upstreams: { it: await jsonUpstream(() => 1) },
    endpoints: [],
    observers: [prometheusObserver()],
  })
  expect(await linesOf(register, 'gateway_origin_connections')).toHaveLength(1)
  await app.close()
  register.clear()
})

it.each([
  ['an unknown option', { labels: [] }, 'Invalid option "labels": unknown. Known here: registry, buckets.'],
  [
    'an object that is not a registry',
    { registry: {} },
    'Invalid option "registry": expected a registry of prom-client, got an object.',
  ],
  [
    'an empty list of buckets',
    { buckets: [] },
    'Invalid option "buckets": expected ascending positive numbers, got an empty array.',
  ],
  [
    'equal buckets',
    { buckets: [1, 1] },
    'Invalid option "buckets": expected ascending positive numbers, got an array.',
  ],
  ['a number of buckets', { buckets: 5 }, 'Invalid option "buckets": expected ascending positive numbers, got 5.'],
])('rejects %s', (_title, options, message) => {
  expect(() => prometheusObserver(options as never)).toThrow(
    expect.objectContaining({ code: 'AGGREGATOR_GATEWAY_INVALID_OPTION', message }) as Error,
  )
})

it('gives the same observer for the same registry, until its metrics are removed', async () => {
  const registry = new Registry()
  const first = prometheusObserver({ registry })
  expect(prometheusObserver({ registry })).toBe(first)
  expect(() => prometheusObserver({ registry, buckets: [1] })).toThrow(
    `Invalid option "buckets": expected those of the registry's observer, 0.001, 0.002, 0.005`,
  )
  registry.clear()
  const second = prometheusObserver({ registry, buckets: [1] })
  expect(second).not.toBe(first)
  expect(registry.getSingleMetric('gateway_call_duration_seconds')).toBeDefined()
})

it('shows 1 for a circuit that is open in several gateways', async () => {
  const registry = new Registry()
  const origin = await nobody()
  const options = {
    upstreams: { it: { origin, circuitBreaker: { window: 2, resetTimeout: 60_000 } } },
    endpoints: [{ path: '/', calls: { one: { upstream: 'it', path: '/' } } }],
    observers: [prometheusObserver({ registry })],
  }
  const apps = [await gateway(options), await gateway(options), await gateway(options)]
  const shown = async (): Promise<string[]> => linesOf(registry, 'gateway_origin_circuit_open')
  expect(await shown()).toEqual([`gateway_origin_circuit_open{upstream="it",origin="${origin}"} 0`])
  for (const app of apps.slice(0, 2)) for (const _ of [1, 2, 3]) await app.inject('/')
  expect(await shown()).toEqual([`gateway_origin_circuit_open{upstream="it",origin="${origin}"} 1`])
})
