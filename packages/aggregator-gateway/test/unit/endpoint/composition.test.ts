import { expect, it } from 'vitest'
import { gateway, gatewayOf, jsonUpstream, sendJson, upstream } from '../../helpers/servers.ts'

const paths = { one: { path: '/one' }, two: { path: '/two' } }

it('composes an object in the order of the calls', async () => {
  const app = await gatewayOf(await jsonUpstream((path) => ({ path })), paths)
  const { statusCode, headers, body } = await app.inject('/')
  expect([statusCode, headers['content-type']]).toEqual([200, 'application/json; charset=utf-8'])
  expect(body).toBe('{"one":{"path":"/one"},"two":{"path":"/two"}}')
})

it('composes an array', async () => {
  const app = await gatewayOf(await jsonUpstream((path) => path), paths, { compose: 'array' })
  expect((await app.inject('/')).body).toBe('["/one","/two"]')
})

it('merges members: the later call wins, in any order of arrival', async () => {
  const origin = await upstream((request, response) => {
    const answer = (): void => sendJson(response, JSON.stringify({ same: request.url, [request.url!.slice(1)]: 1 }))
    // The later call answers first.
    if (request.url === '/one') setTimeout(answer, 50)
    else answer()
  })
  const app = await gatewayOf(origin, paths, { compose: 'merge' })
  expect((await app.inject('/')).json()).toEqual({ same: '/two', one: 1, two: 1 })
})

it('fails to merge a response that is not an object', async () => {
  const app = await gatewayOf(await jsonUpstream((path) => (path === '/two' ? [1] : {})), paths, { compose: 'merge' })
  const { statusCode, json } = await app.inject('/')
  expect([statusCode, json<{ message: string }>().message]).toEqual([
    502,
    'The call "two" to it responded with a body that is not an object',
  ])
})

it('responds with the value of a function, which gets its own copies', async () => {
  const origin = await jsonUpstream(() => ({ list: [1] }))
  const app = await gateway({
    upstreams: { it: origin },
    endpoints: [
      {
        path: '/:name',
        calls: { one: { upstream: 'it', path: '/one' } },
        compose: async ({ one }, request) => {
          const { list } = one as { list: number[] }
          list.push(2)
          return { list, name: (request.params as { name: string }).name }
        },
      },
    ],
  })
  for (const _ of [1, 2]) expect((await app.inject('/ada')).json()).toEqual({ list: [1, 2], name: 'ada' })
})

it('responds 500 when that function throws', async () => {
  const origin = await jsonUpstream(() => 1)
  const compose = (): never => {
    throw new Error('mine')
  }
  const app = await gateway({
    upstreams: { it: origin },
    endpoints: [{ path: '/', calls: { one: { upstream: 'it', path: '/' } }, compose }],
  })
  const { statusCode, json } = await app.inject('/')
  expect([statusCode, json<{ message: string }>().message]).toEqual([500, 'mine'])
})

it('keeps JSON text unchanged: large numbers, spaces, repeated names', async () => {
  const text = '{ "id": 12345678901234567890, "price": 1.10, "a": 1, "a": 2 }'
  const app = await gatewayOf(await upstream((_, response) => sendJson(response, text)), { one: { path: '/' } })
  expect((await app.inject('/')).body).toBe(`{"one":${text}}`)
})

it('keeps large numbers when it merges and maps', async () => {
  const text = '{"id":12345678901234567890,"pi":3.14159265358979323846,"n":{"big":-98765432109876543210},"small":1.5}'
  const origin = await upstream((_, response) => sendJson(response, text))
  const merged = await gatewayOf(origin, { one: { path: '/', omit: ['small'] } }, { compose: 'merge' })
  expect((await merged.inject('/')).body).toBe(text.replace(',"small":1.5', ''))
})

it('uses null for a 204', async () => {
  const app = await gatewayOf(await upstream((_, response) => void response.writeHead(204).end()), {
    one: { path: '/' },
  })
  expect((await app.inject('/')).body).toBe('{"one":null}')
})

it('passes exact numbers and own values to a compose function', async () => {
  const text = '{"id":12345678901234567890,"price":1.5,"big":[-98765432109876543210]}'
  const app = await gateway({
    upstreams: { it: await upstream((_, response) => sendJson(response, text)) },
    endpoints: [
      {
        path: '/',
        calls: { one: { upstream: 'it', path: '/' }, mapped: { upstream: 'it', path: '/', pick: ['big'] } },
        compose: ({ one, mapped }) => {
          const { id, price, big } = one as { id: unknown; price: number; big: unknown[] }
          big.push(1)
          return { id, price: price * 2, big, mapped }
        },
      },
    ],
  })
  for (const _ of [1, 2]) {
    expect((await app.inject('/')).body).toBe(
      '{"id":12345678901234567890,"price":3,"big":[-98765432109876543210,1],"mapped":{"big":[-98765432109876543210]}}',
    )
  }
})

it.each([200, 201, 202])('uses null for a %i without body and type', async (status) => {
  const origin = await upstream((_, response) => void response.writeHead(status, { 'content-length': 0 }).end())
  const app = await gatewayOf(origin, { one: { path: '/' }, two: { path: '/', optional: true } })
  const { body, headers } = await app.inject('/')
  expect([body, headers['x-gateway-complete']]).toEqual(['{"one":null,"two":null}', 'true'])
})

it.each<[string, Record<string, string | number>]>([
  ['with a type', { 'content-length': 0, 'content-type': 'application/json' }],
  ['without a length', { 'transfer-encoding': 'chunked' }],
])('takes no empty body %s', async (_, headers) => {
  const origin = await upstream((_request, response) => void response.writeHead(200, headers).end())
  expect((await (await gatewayOf(origin, { one: { path: '/' } })).inject('/')).statusCode).toBe(502)
})
