import { once } from 'node:events'
import { type AddressInfo, connect } from 'node:net'
import { PassThrough } from 'node:stream'
import Fastify from 'fastify'
import { expect, it, vi } from 'vitest'
import { gatewayPlugin } from '../../../src/index.ts'
import type { CallEnd, GatewayObserver, ObservedCall, ObservedGateway } from '../../../src/index.ts'
import type { CallOptions, EndpointOptions } from '../../../src/index.ts'
import { gateway, jsonUpstream, nobody, sendJson, upstream } from '../../helpers/servers.ts'

/** Notes what it is told, and gives each call a number. */
class Noting implements GatewayObserver<number> {
  readonly started: ObservedCall[] = []
  readonly ended: { name: string; state: number; end: CallEnd }[] = []
  callStarted(call: ObservedCall): number {
    return this.started.push(call)
  }
  callEnded({ name }: ObservedCall, end: CallEnd, state: number): void {
    this.ended.push({ name, state, end })
  }
  /** How the calls ended, by name. */
  get reasons(): Record<string, unknown> {
    return Object.fromEntries(this.ended.map(({ name, end }) => [name, end.reason]))
  }
}

const observed = async (
  origin: string | string[],
  calls: Record<string, Omit<CallOptions, 'upstream'>>,
  endpoint: Partial<EndpointOptions> = {},
) => {
  const observer = new Noting()
  const all = Object.fromEntries(Object.entries(calls).map(([name, call]) => [name, { upstream: 'it', ...call }]))
  const app = await gateway({
    upstreams: { it: { origin, connectTimeout: 500, hedgeBudget: 1, retryBudget: 1 } },
    endpoints: [{ path: '/:id', timeout: 2000, calls: all, ...endpoint }] as never,
    observers: [observer],
  })
  return { app, observer }
}

it('tells of each call what it is, and once what became of it', async () => {
  const origin = await jsonUpstream((path) => path)
  const { app, observer } = await observed(origin, {
    one: { path: '/users/{params.id}' },
    two: { path: '/two/{calls.one}', method: 'POST', allowEncodedSlash: true },
  })
  for (const _ of [1, 2]) expect((await app.inject('/7')).statusCode).toBe(200)
  expect(observer.started.slice(0, 2)).toEqual([
    {
      endpoint: { method: 'GET', path: '/:id' },
      name: 'one',
      upstream: 'it',
      method: 'GET',
      path: '/users/{params.id}',
    },
    {
      endpoint: { method: 'GET', path: '/:id' },
      name: 'two',
      upstream: 'it',
      method: 'POST',
      path: '/two/{calls.one}',
    },
  ])
  // The same objects again, so that they can be keys.
  expect(observer.started[2]).toBe(observer.started[0])
  expect(observer.ended.map(({ name, state }) => [name, state])).toEqual([
    ['one', 1],
    ['two', 2],
    ['one', 3],
    ['two', 4],
  ])
  const { duration, ...end } = observer.ended[0]!.end
  expect(duration).toBeGreaterThan(0)
  expect(end).toEqual({ attempts: 1, hedged: false, origin, status: 200, reason: undefined, message: undefined })
})

it('names the endpoint with the prefix', async () => {
  const observer = new Noting()
  const app = Fastify()
  await app.register(gatewayPlugin, {
    prefix: '/api',
    upstreams: { it: await jsonUpstream(() => 1) },
    endpoints: [{ method: 'POST', path: '/one', calls: { one: { upstream: 'it', path: '/' } } }],
    observers: [observer],
  })
  await app.inject({ method: 'POST', url: '/api/one' })
  expect(observer.started[0]!.endpoint).toEqual({ method: 'POST', path: '/api/one' })
  await app.close()
})

it('sends the trace headers that observers add, for that request alone', async () => {
  const seen: unknown[] = []
  const origin = await jsonUpstream((_, { headers }) => seen.push([headers['x-request-id'], headers['x-own']]))
  let count = 0
  const app = await gateway({
    upstreams: { it: origin },
    endpoints: [{ path: '/', calls: { one: { upstream: 'it', path: '/', headers: { 'x-own': 'yes' } } } }],
    observers: [
      {
        callStarted(_call, { method }, headers) {
          if (count++ === 0) headers['x-request-id'] = method
        },
      },
    ],
  })
  for (const _ of [1, 2]) await app.inject('/')
  expect(seen).toEqual([
    ['GET', 'yes'],
    [undefined, 'yes'],
  ])
})

it('tells how calls failed, and where', async () => {
  const origin = await upstream((request, response) => {
    if (request.url === '/status') response.writeHead(503, { 'content-type': 'application/json' }).end('{}')
    else sendJson(response, '{')
  })
  const { app, observer } = await observed(origin, {
    status: { path: '/status', optional: true },
    body: { path: '/body', optional: true },
  })
  await app.inject('/7')
  const ends = Object.fromEntries(observer.ended.map(({ name, end }) => [name, end]))
  expect(ends['status']).toMatchObject({ origin, status: 503, reason: 'status', message: 'responded 503' })
  expect(ends['body']).toMatchObject({ origin, status: 200, reason: 'body', cause: expect.any(Error) as Error })
})

it('tells of a call that nobody has answered', async () => {
  const origin = await nobody()
  const { app, observer } = await observed(origin, { one: { path: '/' } })
  await app.inject('/7')
  const [{ end }] = observer.ended as [(typeof observer.ended)[0]]
  expect(end).toMatchObject({ origin, status: undefined, reason: 'connection', attempts: 1 })
})

it('tells nothing of a call that was not made as it needed another', async () => {
  const { app, observer } = await observed(await jsonUpstream(() => ({})), {
    one: { path: '/' },
    two: { path: '/{calls.one.missing}', optional: true },
  })
  expect((await app.inject('/7')).headers['x-gateway-missing']).toBe('two;reason=dependency')
  expect(observer.reasons).toEqual({ one: undefined })
})

it.each([
  ['needed', false, 502],
  ['optional', true, 502],
])('tells of a %s call that is refused as its circuit is open', async (_title, optional, statusCode) => {
  const observer = new Noting()
  const origin = await nobody()
  const app = await gateway({
    upstreams: { it: { origin, circuitBreaker: { window: 2, resetTimeout: 60_000 } } },
    endpoints: [{ path: '/', calls: { one: { upstream: 'it', path: '/', optional } } }],
    observers: [observer],
  })
  for (const _ of [1, 2, 3, 4]) expect((await app.inject('/')).statusCode).toBe(statusCode)
  expect(observer.ended.map(({ state }) => state)).toEqual([1, 2, 3, 4])
  const { duration, ...end } = observer.ended.at(-1)!.end
  expect(duration).toBeGreaterThanOrEqual(0)
  expect(end).toEqual({
    attempts: 1,
    hedged: false,
    origin: undefined,
    status: undefined,
    reason: 'circuit-open',
    message: 'was rejected: the circuit is open',
    cause: undefined,
  })
})

it('tells how many attempts there were', async () => {
  let asked = 0
  const origin = await upstream((_, response) => {
    if (++asked < 3) response.writeHead(503, { 'retry-after': '0' }).end()
    else sendJson(response, '1')
  })
  const { app, observer } = await observed(origin, { one: { path: '/', retries: 3 } })
  expect((await app.inject('/7')).statusCode).toBe(200)
  expect(observer.ended).toHaveLength(1)
  expect(observer.ended[0]!.end).toMatchObject({ attempts: 3, hedged: false, status: 200, reason: undefined })
})

it('tells of a hedge, and which origin has answered', async () => {
  const hanging = await upstream(() => {})
  const quick = await jsonUpstream(() => 1)
  const { app, observer } = await observed([hanging, quick], { one: { path: '/', hedge: 20 } })
  expect((await app.inject('/7')).statusCode).toBe(200)
  expect(observer.ended[0]!.end).toMatchObject({ attempts: 2, hedged: true, origin: quick, reason: undefined })
})

it('tells at the deadline of all calls that are late, those behind a needed one too', async () => {
  const { app, observer } = await observed(
    await upstream(() => {}),
    { one: { path: '/' }, two: { path: '/' }, three: { path: '/', optional: true } },
    { timeout: 50 },
  )
  expect((await app.inject('/7')).statusCode).toBe(504)
  expect(observer.reasons).toEqual({ one: 'timeout', two: 'timeout', three: 'timeout' })
  expect(observer.ended).toHaveLength(3)
})

it('tells of a call whose own time was over', async () => {
  const { app, observer } = await observed(await upstream(() => {}), {
    one: { path: '/', timeout: 20, optional: true },
  })
  expect((await app.inject('/7')).statusCode).toBe(504)
  expect(observer.reasons).toEqual({ one: 'timeout' })
})

it('tells of calls that are given up as another one has failed', async () => {
  const origin = await upstream((request, response) => {
    if (request.url === '/fails') response.writeHead(404).end()
  })
  const { app, observer } = await observed(origin, { hangs: { path: '/hangs' }, fails: { path: '/fails' } })
  expect((await app.inject('/7')).statusCode).toBe(502)
  expect(observer.reasons).toEqual({ fails: 'status', hangs: 'aborted' })
})

it('tells of calls whose client has left', async () => {
  let arrived = 0
  const { app, observer } = await observed(await upstream(() => void arrived++), { one: { path: '/' } })
  await app.listen({ port: 0, host: '127.0.0.1' })
  const client = connect((app.server.address() as AddressInfo).port, '127.0.0.1')
  client.write('GET /7 HTTP/1.1\r\nhost: a\r\n\r\n')
  await once(client, 'ready')
  await expect.poll(() => arrived).toBe(1)
  client.destroy()
  await expect.poll(() => observer.reasons).toEqual({ one: 'client-left' })
})

it('tells of a call once that answers several clients', async () => {
  const waiting: (() => void)[] = []
  const origin = await upstream((_, response) => void waiting.push(() => sendJson(response, '1')))
  const { app, observer } = await observed(origin, { one: { path: '/' } }, { coalesce: true })
  const answers = [1, 2].map(() => app.inject('/7').then(({ statusCode }) => statusCode))
  await expect.poll(() => waiting).toHaveLength(1)
  waiting[0]!()
  expect(await Promise.all(answers)).toEqual([200, 200])
  expect(observer.ended).toHaveLength(1)
})

it('an observer that throws is logged once for each of its functions, and breaks nothing', async () => {
  const log = new PassThrough()
  const lines: string[] = []
  log.setEncoding('utf8').on('data', (line: string) => lines.push(line))
  const fails = (message: string) => (): never => {
    throw new Error(message)
  }
  const started = vi.fn<() => number>(() => 1)
  const ended = vi.fn<(call: ObservedCall, end: CallEnd, state: unknown) => void>()
  const app = await gateway({
    upstreams: { it: await jsonUpstream(() => 1) },
    endpoints: [{ path: '/', calls: { one: { upstream: 'it', path: '/' } } }],
    observers: [
      { gatewayOpened: fails('opened'), gatewayClosed: fails('closed') },
      { callStarted: fails('started'), callEnded: fails('ended without start') },
      { callEnded: fails('ended') },
      { callStarted: async () => fails('rejected')() },
      { callStarted: started, callEnded: ended },
    ],
    fastify: { logger: { level: 'error', stream: log } },
  })
  for (const _ of [1, 2]) expect((await app.inject('/')).body).toBe('{"one":1}')
  await app.close()
  const said = lines.map((line) => JSON.parse(line) as { observer: string; err: { message: string } })
  expect(said.map(({ observer, err }) => [observer, err.message])).toEqual([
    ['observers[0].gatewayOpened', 'opened'],
    ['observers[1].callStarted', 'started'],
    ['observers[3].callStarted', 'rejected'],
    ['observers[2].callEnded', 'ended'],
    ['observers[0].gatewayClosed', 'closed'],
  ])
  expect(ended.mock.calls.map(([, , state]) => state)).toEqual([1, 1])
})

it('tells when the gateway is ready and gone, and how its upstreams are', async () => {
  const origin = await jsonUpstream(() => 1)
  const open = new Set<ObservedGateway>()
  const app = await gateway({
    upstreams: { it: { origin, circuitBreaker: false } },
    endpoints: [{ path: '/', calls: { one: { upstream: 'it', path: '/' } } }],
    observers: [{ gatewayOpened: (one) => void open.add(one), gatewayClosed: (one) => void open.delete(one) }],
  })
  await app.inject('/')
  expect([...open].map(({ status }) => status())).toEqual([
    { upstreams: { it: [{ origin, circuit: 'off', pending: 0, streams: 0, connected: 1 }] } },
  ])
  await app.close()
  expect(open.size).toBe(0)
})
