// The document of the real @fastify/swagger says which endpoints need credentials.

import swagger from '@fastify/swagger'
import Fastify, { type FastifyInstance } from 'fastify'
import { expect, it, onTestFinished } from 'vitest'
import { type Authenticator, gatewayPlugin, type GatewayPluginOptions } from '../../../src/index.ts'
import { jwtAuthentication } from '../../../src/jwt/jwt-authentication.ts'

const unnamed = jwtAuthentication({ jwksUrl: 'http://127.0.0.1:1/keys', issuer: 'it', audience: 'me' })
const jwt = { ...unnamed, security: [{ jwt: [] }] }
const securitySchemes = {
  jwt: { type: 'http', scheme: 'bearer', bearerFormat: 'JWT' },
  apiKey: { type: 'apiKey', name: 'x-api-key', in: 'header' },
} as const
const calls = { one: { upstream: 'it', path: '/' } }
const optional = { one: { upstream: 'it', path: '/', optional: true } }
const described = { one: { upstream: 'it', path: '/', schema: { type: 'object' } } }

interface Operation {
  security?: unknown
  responses: Record<string, { description: string; content?: { 'application/json': { schema: object } } }>
}

async function serve(
  endpoints: GatewayPluginOptions['endpoints'],
  authentication: Authenticator | undefined = jwt,
): Promise<FastifyInstance> {
  const app = Fastify()
  onTestFinished(() => app.close())
  await app.register(swagger, { openapi: { openapi: '3.1.0', components: { securitySchemes } } })
  await app.register(gatewayPlugin, {
    upstreams: { it: 'http://127.0.0.1:1' },
    ...(authentication && { authentication }),
    endpoints,
  } as GatewayPluginOptions)
  await app.ready()
  return app
}

async function operationOf(endpoint: object, authentication: Authenticator | undefined = jwt): Promise<Operation> {
  const app = await serve([{ path: '/me', ...endpoint }] as never, authentication)
  const { paths } = app.swagger() as unknown as { paths: Record<string, { get: Operation }> }
  return paths['/me']!.get
}

const failed = {
  description: expect.stringMatching(/^AGGREGATOR_GATEWAY_UNAUTHENTICATED: /) as string,
  content: { 'application/json': { schema: { type: 'object', required: ['statusCode', 'error', 'message'] } } },
}

it.each([
  ['without schemas', { calls }, ['200', '401', '502', '503', '504']],
  ['with schemas of calls', { calls: described }, ['200', '401', '502', '503', '504']],
  ['that passes through', { passThrough: { upstream: 'it', path: '/' } }, ['200', '401', '502', '503', '504']],
  ['whose optional calls may all fail', { calls: optional, allowAllFailed: true }, ['200', '401', '503']],
])('names the scheme and the 401 of an endpoint %s', async (_title, endpoint, statuses) => {
  const { security, responses } = await operationOf(endpoint)
  expect(security).toEqual([{ jwt: [] }])
  expect(Object.keys(responses)).toEqual(statuses)
  expect(responses['401']).toMatchObject(failed)
})

const me = { upstream: 'it', path: '/' }

it.each([
  ['a claim in its path', { calls: { me: { ...me, path: '/{claims.sub}' } } }],
  ['a claim in a header', { calls: { me: { ...me, headers: { 'x-user': '{claims.sub}' } } } }],
  ["a value of a hook's user", { calls: { me: { ...me, path: '/{user.sub}' } } }],
  ['a list of the client', { calls: { me: { ...me, path: '/{item}', forEach: '{claims.groups}' } } }],
  ['a forwarded header', { calls: { me: { ...me, forwardHeaders: ['authorization'] } } }],
  ['a forwarded query parameter', { calls: { me: { ...me, forwardQuery: ['page'] } } }],
  ['a claim of a pass-through', { passThrough: { ...me, headers: { 'x-user': '{claims.sub}' } } }],
])('has the 400 of an endpoint with %s', async (_title, endpoint) => {
  const { responses } = await operationOf(endpoint)
  expect(responses['400']?.description).toMatch(/^AGGREGATOR_GATEWAY_BAD_PARAMETER: /)
})

it('has no 400 if only functions and other calls give values', async () => {
  const list = { ...me, path: '/{item.id}', forEach: '{calls.me.items}', headers: () => ({}) }
  const { responses } = await operationOf({ calls: { me, list } })
  expect(Object.keys(responses)).not.toContain('400')
})

it('lets clients of an optional endpoint go without credentials, and has the 401 of invalid ones', async () => {
  const { security, responses } = await operationOf({ calls, authentication: 'optional' })
  expect(security).toEqual([{ jwt: [] }, {}])
  expect(responses['401']).toMatchObject(failed)
})

it('names public endpoints as such', async () => {
  const { security, responses } = await operationOf({ calls: described, authentication: false })
  expect(security).toEqual([])
  expect(Object.keys(responses)).not.toContain('401')
})

it('names no scheme without one, and has the 401', async () => {
  const { security, responses } = await operationOf({ calls }, unnamed)
  expect(security).toBeUndefined()
  expect(responses['401']).toMatchObject(failed)
})

it('has each error of a pass-through that takes bodies and parameters, in the form that clients get', async () => {
  const passThrough = { upstream: 'it', path: '/{query.id}' }
  const app = await serve([{ method: 'POST', path: '/me', passThrough }] as never)
  const { paths } = app.swagger() as unknown as { paths: Record<string, { post: Operation }> }
  const { responses } = paths['/me']!.post
  expect(Object.keys(responses)).toEqual(['200', '400', '401', '408', '502', '503', '504'])
  const { 200: _success, ...errors } = responses
  for (const { description, content } of Object.values(errors)) {
    expect(description).toMatch(/^AGGREGATOR_GATEWAY_/)
    expect(content).toMatchObject(failed.content)
  }
  expect(errors[503]!.description).toContain('AGGREGATOR_GATEWAY_KEYS_UNAVAILABLE: ')
})

it("keeps the user's own schemas", async () => {
  const mine = { description: 'mine', type: 'object' }
  const { security, responses } = await operationOf({
    calls,
    route: { schema: { security: [{ apiKey: [] }], response: { 401: mine } } },
  })
  expect(security).toEqual([{ apiKey: [] }])
  expect(Object.entries(responses).map(([status, { description }]) => [status, description])).toEqual([['401', 'mine']])
})

it.each([
  ['calls', { calls }],
  ['calls with schemas', { calls: described }],
  ['passThrough', { passThrough: { upstream: 'it', path: '/' } }],
])('changes no byte of a 401: %s', async (_title, endpoint) => {
  const app = await serve([
    { path: '/me', ...endpoint },
    {
      path: '/handled',
      ...endpoint,
      route: {
        errorHandler: (_error: unknown, _request: unknown, reply: { send: (body: unknown) => void }) =>
          reply.send({ only: 'mine' }),
      },
    },
  ] as never)
  const { statusCode, headers, body } = await app.inject('/me')
  expect([statusCode, headers['content-type'], body]).toEqual([
    401,
    'application/json; charset=utf-8',
    '{"statusCode":401,"code":"AGGREGATOR_GATEWAY_UNAUTHENTICATED","error":"Unauthorized","message":"The request has no credentials"}',
  ])
  expect((await app.inject('/handled')).body).toBe('{"only":"mine"}')
})

it.each<[unknown]>([['jwt'], [{ jwt: [] }], [[{ jwt: true }]], [[null]]])(
  'rejects a requirement that is none: %o',
  async (security) => {
    await expect(
      serve([{ path: '/', calls }] as never, { authenticate: async () => undefined, security } as never),
    ).rejects.toMatchObject({
      code: 'AGGREGATOR_GATEWAY_INVALID_OPTION',
      message: expect.stringContaining(
        '"authentication.security": expected a list such as [{ jwt: [] }], got',
      ) as string,
    })
  },
)
