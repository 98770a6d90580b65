import type { ServerResponse } from 'node:http'
import { expect, it } from 'vitest'
import { gateway, nobody, sendJson, tcpUpstream, upstream } from '../../helpers/servers.ts'

/** An upstream that answers when it is told to. */
async function waiting(): Promise<{ origin: string; seen: { path: string; response: ServerResponse }[] }> {
  const seen: { path: string; response: ServerResponse }[] = []
  const origin = await upstream((request, response) => void seen.push({ path: request.url!, response }))
  return { origin, seen }
}

it('responds 503 immediately when the queue is full', async () => {
  const { origin, seen } = await waiting()
  const app = await gateway({
    upstreams: { it: { origin, maxConnections: 1, maxQueue: 1 } },
    endpoints: [{ path: '/', timeout: 60_000, calls: { one: { upstream: 'it', path: '/' } } }],
  })
  // An injected request begins when it is waited for.
  const accepted = [1, 2].map(() => app.inject('/').then((answer) => answer.statusCode))
  const { statusCode, json } = await app.inject('/')
  expect([statusCode, json<{ code: string }>().code]).toEqual([503, 'AGGREGATOR_GATEWAY_OVERLOADED'])
  await expect.poll(() => seen.length).toBe(1)
  sendJson(seen[0]!.response, '1')
  await expect.poll(() => seen.length).toBe(2)
  sendJson(seen[1]!.response, '1')
  expect(await Promise.all(accepted)).toEqual([200, 200])
})

it.each([
  ['nobody listens', nobody],
  ['connections are closed at once', () => tcpUpstream((socket) => socket.destroy())],
  [
    'connections are reset when something comes',
    () => tcpUpstream((socket) => socket.once('data', () => socket.resetAndDestroy())),
  ],
])('all calls that wait for a connection fail, each by itself, where %s', async (_, origin) => {
  const app = await gateway({
    upstreams: { it: { origin: await origin(), maxConnections: 1, maxQueue: 10, circuitBreaker: false } },
    endpoints: [{ path: '/', timeout: 60_000, calls: { one: { upstream: 'it', path: '/' } } }],
  })
  const answers = await Promise.all(Array.from({ length: 5 }, () => app.inject('/')))
  expect(answers.map(({ statusCode, json }) => [statusCode, json<{ code: string }>().code])).toEqual(
    answers.map(() => [502, 'AGGREGATOR_GATEWAY_UPSTREAM_FAILED']),
  )
})

it('makes no call of a request whose calls cannot all be queued', async () => {
  const { origin, seen } = await waiting()
  const other = await waiting()
  const app = await gateway({
    upstreams: { it: { origin, maxConnections: 2, maxQueue: 1 }, other: other.origin },
    endpoints: [
      {
        path: '/',
        timeout: 60_000,
        calls: {
          other: { upstream: 'other', path: '/other' },
          one: { upstream: 'it', path: '/one' },
          two: { upstream: 'it', path: '/two' },
        },
      },
    ],
  })
  const accepted = app.inject('/').then(({ body }) => body)
  await expect.poll(() => seen.length).toBe(2)
  // There is room for one of its two calls.
  const { statusCode, json } = await app.inject('/')
  expect([statusCode, json()]).toMatchObject([
    503,
    { code: 'AGGREGATOR_GATEWAY_OVERLOADED', message: 'The call "one" to it was rejected: the queue is full' },
  ])
  expect([seen.length, other.seen.length]).toEqual([2, 1])
  for (const { response } of [...seen, ...other.seen]) sendJson(response, '1')
  expect(await accepted).toBe('{"other":1,"one":1,"two":1}')
})

it('rejections have no stack trace', async () => {
  const { origin, seen } = await waiting()
  const errors: Error[] = []
  const onError = async (_request: unknown, _reply: unknown, error: Error): Promise<void> => void errors.push(error)
  const app = await gateway({
    upstreams: { it: { origin, maxConnections: 1, maxQueue: 0 } },
    endpoints: [{ path: '/', timeout: 60_000, calls: { one: { upstream: 'it', path: '/' } }, route: { onError } }],
  })
  const accepted = app.inject('/').then(({ statusCode }) => statusCode)
  await expect.poll(() => seen.length).toBe(1)
  expect((await app.inject('/')).statusCode).toBe(503)
  expect(errors.map((error) => [error instanceof Error, String(error), error.stack])).toEqual([
    [
      true,
      'FastifyError [AGGREGATOR_GATEWAY_OVERLOADED]: The call "one" to it was rejected: the queue is full',
      undefined,
    ],
  ])
  sendJson(seen[0]!.response, '1')
  expect(await accepted).toBe(200)
})

it('makes a dependent call although the queue is full', async () => {
  const { origin, seen } = await waiting()
  const app = await gateway({
    upstreams: { it: { origin, maxConnections: 1, maxQueue: 0 } },
    endpoints: [
      {
        path: '/chain',
        timeout: 60_000,
        calls: { one: { upstream: 'it', path: '/one' }, two: { upstream: 'it', path: '/two?of={calls.one}' } },
      },
      { path: '/', timeout: 60_000, calls: { one: { upstream: 'it', path: '/alone' } } },
    ],
  })
  const chain = app.inject('/chain').then(({ body }) => body)
  await expect.poll(() => seen.length).toBe(1)
  sendJson(seen[0]!.response, '7')
  await expect.poll(() => seen.map(({ path }) => path)).toEqual(['/one', '/two?of=7'])
  expect((await app.inject('/')).statusCode).toBe(503)
  sendJson(seen[1]!.response, '8')
  expect(await chain).toBe('{"one":7,"two":8}')
})

it('responds without an optional call when the queue is full', async () => {
  const { origin, seen } = await waiting()
  const app = await gateway({
    upstreams: { it: { origin, maxConnections: 1, maxQueue: 0 } },
    endpoints: [
      {
        path: '/',
        timeout: 60_000,
        calls: { one: { upstream: 'it', path: '/one' }, two: { upstream: 'it', path: '/two', optional: true } },
      },
    ],
  })
  const answer = app.inject('/').then(({ body, headers }) => [body, headers['x-gateway-missing']])
  await expect.poll(() => seen.length).toBe(1)
  sendJson(seen[0]!.response, '1')
  expect(await answer).toEqual(['{"one":1,"two":null}', 'two;reason=overloaded'])
})
