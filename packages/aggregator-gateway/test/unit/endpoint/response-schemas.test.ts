// By the real @fastify/swagger.

import swagger from '@fastify/swagger'
import Fastify, { type FastifyInstance } from 'fastify'
import { describe, expect, it, onTestFinished } from 'vitest'
import { gatewayPlugin } from '../../../src/index.ts'
import type { CallOptions, EndpointOptions } from '../../../src/index.ts'
import { gateway, jsonUpstream, upstream } from '../../helpers/servers.ts'

const user = { type: 'object', properties: { name: { type: 'string' } }, required: ['name'] }
const count = { type: 'integer' }

type Calls = Record<string, Omit<CallOptions, 'upstream'>>

interface Operation {
  parameters?: object[]
  responses: Record<string, { description: string; content?: Record<string, { schema: Record<string, unknown> }> }>
}

const appOf = async (
  calls: Calls,
  endpoint: Partial<EndpointOptions> = {},
  { origin = 'http://127.0.0.1:1', version = '3.1.0' } = {},
): Promise<FastifyInstance> => {
  const app = Fastify()
  onTestFinished(() => app.close())
  await app.register(swagger, { openapi: { openapi: version } })
  app.addSchema({ $id: 'account', type: 'object', properties: { balance: { type: 'number' } } })
  await app.register(gatewayPlugin, {
    prefix: '/api',
    upstreams: { it: origin },
    endpoints: [
      {
        path: '/of/:id',
        calls: Object.fromEntries(Object.entries(calls).map(([name, call]) => [name, { upstream: 'it', ...call }])),
        ...endpoint,
      },
    ] as never,
    status: true,
  })
  await app.ready()
  return app
}

const operationOf = async (...args: Parameters<typeof appOf>): Promise<Operation> => {
  const { paths } = (await appOf(...args)).swagger() as unknown as { paths: Record<string, { get: Operation }> }
  // The status is no part of it.
  expect(Object.keys(paths)).toEqual(['/api/of/{id}'])
  return paths['/api/of/{id}']!.get
}

const schemaOf = ({ responses }: Operation, status: number): Record<string, unknown> =>
  responses[status]!.content!['application/json']!.schema

it('has the path, its parameters and all responses', async () => {
  const operation = await operationOf(
    {
      profile: { path: '/users/{params.id}', schema: user, forwardStatuses: [404] },
      orders: { path: '/orders', optional: true, schema: { type: 'array', items: count } },
      news: { path: '/news' },
    },
    {
      route: {
        schema: {
          querystring: { type: 'object', properties: { page: { type: 'integer' } } },
          summary: 'All of a user',
        },
      },
    },
  )
  expect(operation).toMatchObject({ summary: 'All of a user' })
  expect(operation.parameters).toEqual([
    { schema: { type: 'integer' }, in: 'query', name: 'page', required: false },
    { schema: { type: 'string' }, in: 'path', name: 'id', required: true },
  ])
  expect(schemaOf(operation, 200)).toMatchObject({
    type: 'object',
    properties: {
      profile: user,
      orders: { anyOf: [{ type: 'array', items: count }, { type: 'null' }] },
      news: {},
    },
    required: ['profile', 'orders', 'news'],
  })
  expect(Object.keys(operation.responses)).toEqual(['200', '400', '404', '502', '503', '504'])
  for (const status of [400, 404, 502, 503, 504]) {
    expect(operation.responses[status]!.description).toMatch(/^AGGREGATOR_GATEWAY_/)
    expect(schemaOf(operation, status)).toMatchObject({ properties: { code: { type: 'string' } } })
  }
})

it.each([
  [false, ['200', '502', '503', '504']],
  [true, ['200']],
])('has only possible failures: of optional calls with allowAllFailed: %s', async (allowAllFailed, statuses) => {
  const { responses } = await operationOf({ one: { path: '/one', optional: true, schema: user } }, { allowAllFailed })
  expect(Object.keys(responses)).toEqual(statuses)
})

it('has null in the form of OpenAPI 3.0', async () => {
  const operation = await operationOf({ one: { path: '/', optional: true, schema: user } }, {}, { version: '3.0.3' })
  expect(schemaOf(operation, 200)).toMatchObject({ properties: { one: { ...user, nullable: true } } })
})

describe('composed', () => {
  it('to an array', async () => {
    const two = { one: { path: '/', schema: user }, two: { path: '/', schema: count } }
    expect(schemaOf(await operationOf(two, { compose: 'array' }), 200)).toMatchObject({
      type: 'array',
      items: { anyOf: [user, count] },
      minItems: 2,
      maxItems: 2,
    })
    const alike = { one: { path: '/', schema: count }, two: { path: '/', schema: count } }
    expect(schemaOf(await operationOf(alike, { compose: 'array' }), 200)).toMatchObject({ items: count })
  })

  it('by merging: the later member wins, and members of optional calls are not required', async () => {
    const operation = await operationOf(
      {
        one: { path: '/', schema: { ...user, properties: { name: count, age: count } } },
        two: { path: '/', schema: user },
        three: { path: '/', schema: { properties: { mood: count }, required: ['mood'] }, optional: true },
        four: { path: '/' },
      },
      { compose: 'merge' },
    )
    const { properties, required } = schemaOf(operation, 200)
    expect([properties, required]).toEqual([{ name: { type: 'string' }, age: count, mood: count }, ['name']])
    const none = { one: { path: '/', schema: { properties: { mood: count } }, optional: true } }
    expect(schemaOf(await operationOf(none, { compose: 'merge' }), 200)).not.toHaveProperty('required')
  })

  it('by merging schemas with references', async () => {
    const account = { $ref: 'account#' }
    const both = { one: { path: '/', schema: user }, two: { path: '/', schema: account } }
    expect(schemaOf(await operationOf(both, { compose: 'merge' }), 200)).toMatchObject({
      type: 'object',
      allOf: [user, { $ref: expect.stringContaining('#/components/schemas/') as string }],
    })
    const none = { one: { path: '/', schema: account, optional: true } }
    expect(schemaOf(await operationOf(none, { compose: 'merge' }), 200)).not.toHaveProperty('allOf')
  })
})

it('leaves responses alone without schemas of calls', async () => {
  const { responses } = await operationOf({ one: { path: '/{params.id}' } })
  expect(responses).toEqual({ 200: { description: 'Default Response' } })
})

it("has the route's own responses", async () => {
  const mine = { description: 'mine', type: 'object', properties: { who: { type: 'string' } } }
  const operation = await operationOf(
    { one: { path: '/', schema: user } },
    { route: { schema: { response: { 401: mine, 502: mine } } } },
  )
  expect([401, 502].map((status) => operation.responses[status]!.description)).toEqual(['mine', 'mine'])
  expect(schemaOf(operation, 200)).toMatchObject({ properties: { one: user } })
})

it('rejects schemas of calls beside a compose function', async () => {
  const calls = { one: { upstream: 'it', path: '/', schema: user } }
  await expect(
    gateway({ upstreams: { it: 'http://a' }, endpoints: [{ path: '/', calls, compose: ({ one }) => one }] }),
  ).rejects.toMatchObject({
    code: 'AGGREGATOR_GATEWAY_INVALID_OPTION',
    message:
      'Invalid option "endpoints[0].compose": expected "object" or "array" or "merge" beside the schema of a call (or use route.schema.response), got a function.',
  })
})

describe('schemas change no byte', () => {
  it('of a response', async () => {
    const text = '{ "name": "ada", "big": 12345678901234567890 }'
    const origin = await upstream((_, response) => {
      response.writeHead(200, { 'content-type': 'application/json' }).end(text)
    })
    const app = await appOf({ one: { path: '/', schema: user }, two: { path: '/', schema: count } }, {}, { origin })
    expect((await app.inject('/api/of/7')).body).toBe(`{"one":${text},"two":${text}}`)
  })

  it.each([
    ['502', { path: '/' }, '/api/of/7', {}],
    ['400', { path: '/{query.q}' }, '/api/of/7', {}],
    ['504', { path: '/hangs' }, '/api/of/7', { timeout: 50 }],
  ])('of an error with %s', async (status, call, url, endpoint) => {
    const origin = await upstream((request, response) => {
      if (request.url !== '/hangs') response.writeHead(500).end()
    })
    const [with_, without] = await Promise.all([
      appOf({ one: { ...call, schema: user } }, endpoint, { origin }),
      appOf({ one: call }, endpoint, { origin }),
    ])
    const [answer, expected] = await Promise.all([with_.inject(url), without.inject(url)])
    expect(expected.statusCode).toBe(Number(status))
    expect([answer.statusCode, answer.body]).toEqual([expected.statusCode, expected.body])
    expect(answer.headers['content-type']).toBe(expected.headers['content-type'])
  })

  it("of an error handler's response", async () => {
    const route = {
      errorHandler: (_error: unknown, _request: unknown, reply: { send: (body: unknown) => void }) =>
        reply.send({ only: 'mine' }),
    }
    const app = await appOf({ one: { path: '/', schema: user } }, { route })
    expect((await app.inject('/api/of/7')).body).toBe('{"only":"mine"}')
  })

  it("but the user's compiler applies the user's schemas", async () => {
    const response = { 401: { type: 'string' } }
    const route: EndpointOptions['route'] = {
      schema: { response },
      serializerCompiler:
        ({ httpStatus }) =>
        (value) =>
          JSON.stringify({ by: httpStatus, value: value as unknown }),
      preHandler: async (_request, reply) => reply.code(401).send({ who: 'me' }),
    }
    const app = await appOf({ one: { path: '/', schema: user } }, { route })
    expect((await app.inject('/api/of/7')).body).toBe('{"by":"401","value":{"who":"me"}}')
  })
})

it('does not validate responses of upstreams', async () => {
  const origin = await jsonUpstream(() => 'no user')
  const app = await appOf({ one: { path: '/', schema: user } }, {}, { origin })
  expect((await app.inject('/api/of/7')).body).toBe('{"one":"no user"}')
})
