import { once } from 'node:events'
import { get, type IncomingMessage } from 'node:http'
import type { AddressInfo } from 'node:net'
import { json } from 'node:stream/consumers'
import { describe, expect, it } from 'vitest'
import { gateway, gatewayOf, jsonUpstream } from '../../helpers/servers.ts'

/** What the upstream was asked for, and what the client got. */
async function ask(
  path: string,
  url: string,
  own = '/at/:name',
): Promise<{ asked: string[]; status: number; code: string }> {
  const asked: string[] = []
  const origin = await jsonUpstream((upstreamPath) => asked.push(upstreamPath))
  const app = await gatewayOf(origin, { one: { path } }, { path: own })
  await app.listen({ port: 0, host: '127.0.0.1' })
  // As it is: URL parsers resolve segments of dots.
  const [response] = (await once(get({ port: (app.server.address() as AddressInfo).port, path: url }), 'response')) as [
    IncomingMessage,
  ]
  const { code = '' } = (await json(response)) as { code?: string }
  return { asked, status: response.statusCode!, code }
}

describe('a value stays within its segment', () => {
  it.each([
    ['ada', '/users/ada/orders'],
    ['a%20b', '/users/a%20b/orders'],
    ['a%3Fadmin=1', '/users/a%3Fadmin%3D1/orders'],
    ['a%23b', '/users/a%23b/orders'],
    ['a;b=c', '/users/a%3Bb%3Dc/orders'],
    ['@evil.example', '/users/%40evil.example/orders'],
    ['%C3%A9', '/users/%C3%A9/orders'],
    ['...', '/users/.../orders'],
    ['.a', '/users/.a/orders'],
    ['0', '/users/0/orders'],
  ])('%s', async (value, asked) => {
    expect(await ask('/users/{params.name}/orders', `/at/${value}`)).toEqual({ asked: [asked], status: 200, code: '' })
  })

  it.each([
    ['%2E%2E', '/users/{params.name}/orders'],
    ['%2E', '/users/{params.name}'],
    ['%2E%2E', '/users/{params.name}?a=b'],
    ['%2E', '/users/.{params.name}'],
    ['%2E', '/users/{params.name}{params.name}'],
  ])('%s is refused in %s', async (value, path) => {
    expect(await ask(path, `/at/${value}`)).toEqual({
      asked: [],
      status: 400,
      code: 'AGGREGATOR_GATEWAY_BAD_PARAMETER',
    })
  })
})

describe('a value stays within its query value', () => {
  it.each([
    ['a%26admin=1', '/search?q=a%26admin%3D1&page=1'],
    ['', '/search?q=&page=1'],
    ['..', '/search?q=..&page=1'],
    ['a%20b+c', '/search?q=a%20b%20c&page=1'],
  ])('%s', async (value, asked) => {
    const found = await ask('/search?q={query.q}&page=1', `/at/x?q=${value}`)
    expect(found).toEqual({ asked: [asked], status: 200, code: '' })
  })

  it.each([
    ['what is missing', '/at/x'],
    ['what comes twice', '/at/x?q=1&q=2'],
    ['what is inherited', '/at/x?toString=1'],
  ])('%s is refused', async (_title, url) => {
    expect(await ask('/search?q={query.q}', url)).toEqual({
      asked: [],
      status: 400,
      code: 'AGGREGATOR_GATEWAY_BAD_PARAMETER',
    })
  })
})

it('takes values of headers and bodies', async () => {
  const asked: string[] = []
  const origin = await jsonUpstream((path) => asked.push(path))
  const app = await gateway({
    upstreams: { it: origin },
    endpoints: [
      {
        method: 'POST',
        path: '/',
        calls: { one: { upstream: 'it', path: '/{headers.x-tenant}/{body.user.id}?all={body.user.isAll}' } },
      },
    ],
  })
  const payload = { user: { id: 7, isAll: false } }
  await app.inject({ method: 'POST', url: '/', headers: { 'x-tenant': 'a b' }, payload })
  expect(asked).toEqual(['/a%20b/7?all=false'])
})

it('responds 400 to an empty segment', async () => {
  expect(await ask('/users/{params.*}/orders', '/at/', '/at/*')).toEqual({
    asked: [],
    status: 400,
    code: 'AGGREGATOR_GATEWAY_BAD_PARAMETER',
  })
})

it('makes no call when one has an invalid value', async () => {
  const asked: string[] = []
  const origin = await jsonUpstream((path) => asked.push(path))
  const app = await gatewayOf(origin, { good: { path: '/good' }, bad: { path: '/{query.q}' } })
  expect((await app.inject('/')).statusCode).toBe(400)
  // A call that was made before would have come by now.
  expect((await app.inject('/?q=1')).statusCode).toBe(200)
  expect(asked.toSorted()).toEqual(['/1', '/good'])
})
