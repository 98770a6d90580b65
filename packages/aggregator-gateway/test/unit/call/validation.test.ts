import type { FastifyInstance } from 'fastify'
import Fastify from 'fastify'
import { describe, expect, it, onTestFinished } from 'vitest'
import { type CallOptions, createAggregatorGateway, gatewayPlugin, typedCall } from '../../../src/index.ts'
import { gateway, sendJson, upstream } from '../../helpers/servers.ts'

const schema = {
  type: 'object',
  properties: {
    id: { type: 'integer' },
    at: { type: 'string', format: 'date-time' },
    tags: { type: 'array', items: { type: 'string' } },
  },
  required: ['id'],
}

async function appFor(
  text: string,
  call: Partial<CallOptions> = {},
  log?: (line: string) => void,
): Promise<FastifyInstance> {
  const origin = await upstream((_request, response) => sendJson(response, text))
  return await gateway({
    upstreams: { it: origin },
    endpoints: [{ path: '/', calls: { one: { upstream: 'it', path: '/', schema, validate: true, ...call } } }],
    ...(log ? { fastify: { logger: { level: 'warn', stream: { write: log } } } } : {}),
  })
}

it.each([
  '{"id":1}',
  '{"id":1,"other":[1,{}],"at":"2026-11-27T10:00:00Z"}',
  // Text and spaces stay as they are.
  '{ "id" : 1.0e0, "tags":["x"] }',
])('passes %s on unchanged', async (text) => {
  const { statusCode, body } = await (await appFor(text)).inject('/')
  expect([statusCode, body]).toEqual([200, `{"one":${text}}`])
})

it.each([
  ['a missing member', '{}', "the response must have required property 'id'"],
  ['a text for a number', '{"id":"1"}', '/id must be integer'],
  ['a number for a text', '{"id":1,"tags":[1]}', '/tags/0 must be string'],
  ['another format', '{"id":1,"at":"yesterday"}', '/at must match format "date-time"'],
  ['null', 'null', 'the response must be object'],
])('fails a call: %s', async (_title, text, detail) => {
  const lines: string[] = []
  const app = await appFor(text, {}, (line) => void lines.push(line))
  const { statusCode, json } = await app.inject('/')
  expect([statusCode, json<{ message: string }>().message]).toEqual([
    502,
    'The call "one" to it responded with a body that does not match its schema',
  ])
  // The log has the detail, the client has not.
  expect(lines.join('')).toContain(JSON.stringify(detail).slice(1, -1))
})

it('makes an optional call null', async () => {
  const origin = await upstream((request, response) => sendJson(response, request.url === '/one' ? '{}' : '1'))
  const calls = {
    one: { upstream: 'it', path: '/one', schema, validate: true, optional: true },
    two: { upstream: 'it', path: '/two' },
  }
  const app = await gateway({ upstreams: { it: origin }, endpoints: [{ path: '/', calls }] })
  const { headers, json } = await app.inject('/')
  expect([headers['x-gateway-missing'], json()]).toEqual(['one;reason=body', { one: null, two: 1 }])
})

it('validates the mapped response', async () => {
  expect((await (await appFor('{"data":{"id":1}}', { target: 'data' })).inject('/')).statusCode).toBe(200)
  expect((await (await appFor('{"data":{"id":"x"}}', { target: 'data' })).inject('/')).statusCode).toBe(502)
})

it('validates each item of a list', async () => {
  const origin = await upstream((request, response) => sendJson(response, request.url === '/2' ? '{}' : '{"id":1}'))
  const call = { upstream: 'it', path: '/{item}', forEach: '{query.id}', schema, validate: true, optional: true }
  const app = await gateway({ upstreams: { it: origin }, endpoints: [{ path: '/', calls: { one: call } }] })
  expect((await app.inject('/?id=1&id=2')).json()).toEqual({ one: [{ id: 1 }, null] })
})

it('does not validate by default', async () => {
  expect((await (await appFor('{}', { validate: false })).inject('/')).body).toBe('{"one":{}}')
})

it('knows large integers', async () => {
  expect((await (await appFor('{"id":12345678901234567890}')).inject('/')).body).toBe(
    '{"one":{"id":12345678901234567890}}',
  )
})

it('accepts keywords of OpenAPI and shared schemas', async () => {
  const origin = await upstream((_request, response) => sendJson(response, '{"id":null,"user":{"name":1}}'))
  const app = Fastify()
  onTestFinished(() => app.close())
  app.addSchema({ $id: 'user', type: 'object', properties: { name: { type: 'string' } } })
  const call = (one: object) => ({
    upstream: 'it',
    path: '/',
    validate: true,
    schema: { type: 'object', properties: one },
  })
  await app.register(gatewayPlugin, {
    upstreams: { it: origin },
    endpoints: [
      { path: '/nullable', calls: { one: call({ id: { type: 'integer', nullable: true, example: 1, xml: {} } }) } },
      { path: '/shared', calls: { one: call({ user: { $ref: 'user#' } }) } },
    ],
  })
  const statuses = await Promise.all(['/nullable', '/shared'].map((url) => app.inject(url)))
  expect(statuses.map(({ statusCode }) => statusCode)).toEqual([200, 502])
})

describe('an invalid schema', () => {
  it.each([
    ['expected a JSON Schema for validate, got undefined.', undefined],
    [
      'expected a JSON Schema that can be compiled for validate (schema is invalid: data/type must be equal to one of the allowed values, data/type must be array, data/type must match a schema in anyOf), got an object.',
      { type: 'text' },
    ],
    [
      'expected a JSON Schema that can be compiled for validate (strict mode: unknown keyword: "requird"), got an object.',
      { requird: [] },
    ],
    [
      "expected a JSON Schema that can be compiled for validate (can't resolve reference other# from id #), got an object.",
      { $ref: 'other#' },
    ],
  ])('%s', async (message, invalid) => {
    const call = { upstream: 'it', path: '/', validate: true, schema: invalid }
    const options = { upstreams: { it: 'http://127.0.0.1:1' }, endpoints: [{ path: '/', calls: { one: call } }] }
    await expect(createAggregatorGateway(options as never)).rejects.toMatchObject({
      code: 'AGGREGATOR_GATEWAY_INVALID_OPTION',
      message: `Invalid option "endpoints[0].calls.one.schema": ${message}`,
    })
  })
})

it('typedCall returns the options of the call', () => {
  const call = { upstream: 'it', path: '/' }
  expect(typedCall<{ id: number }>(call)).toBe(call)
})
