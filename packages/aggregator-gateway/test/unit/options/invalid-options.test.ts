import Fastify from 'fastify'
import { describe, expect, it } from 'vitest'
import { createAggregatorGateway, gatewayPlugin, KeyValueCacheStore } from '../../../src/index.ts'

const origin = 'http://127.0.0.1:1'
const call = { upstream: 'it', path: '/' }
const withUpstream = (upstream: unknown): object => ({ upstreams: { it: upstream }, endpoints: [] })
const withEndpoint = (endpoint: unknown): object => ({ upstreams: { it: origin }, endpoints: [endpoint] })
const withCall = (one: unknown): object => withEndpoint({ path: '/:id', calls: { one } })
const passing = (one: object, endpoint: object = {}): object =>
  withEndpoint({ path: '/:id', ...endpoint, passThrough: { ...call, ...one } })
const caching = (cache: unknown): object => withUpstream({ origin, cache })
const withPath = (path: string): object => withCall({ ...call, path })

const WRONG: readonly [title: string, options: unknown, message: string][] = [
  ['nothing', undefined, 'Expected `options` to be an object with `upstreams` and `endpoints`, got undefined'],
  [
    'an unknown option',
    { upstreams: {}, endpoints: [], wrong: 1 },
    'Expected `options` to have some of upstreams, endpoints, coalesce, observers, callLogLevel, status, fastify, got `wrong`',
  ],
  ['no upstreams', { endpoints: [] }, 'Expected `upstreams` to be an object of upstreams by name, got undefined'],
  ['no endpoints', { upstreams: {} }, 'Expected `endpoints` to be an array of endpoints, got undefined'],
  [
    'an upstream that is no URL',
    withUpstream('users'),
    'Expected `upstreams.it` to be an origin such as http://users:3000, or an array of them, got "users" (string)',
  ],
  [
    'an upstream with a path',
    withUpstream('http://users/api'),
    'Expected `upstreams.it` to be an origin such as http://users:3000, or an array of them, got "http://users/api" (string)',
  ],
  [
    'an upstream of another protocol',
    withUpstream({ origin: 'file:///etc' }),
    'Expected `upstreams.it.origin` to be an origin such as http://users:3000, or an array of them, got "file:///etc" (string)',
  ],
  [
    'an upstream without origins',
    withUpstream({ origin: [] }),
    'Expected `upstreams.it.origin` to be an origin such as http://users:3000, or an array of them, got an array',
  ],
  [
    'no connections',
    withUpstream({ origin, connections: 0 }),
    'Expected `upstreams.it.connections` to be a whole number >= 1, got 0 (number)',
  ],
  [
    'half a connection in the queue',
    withUpstream({ origin, queue: 0.5 }),
    'Expected `upstreams.it.queue` to be a whole number >= 0, got 0.5 (number)',
  ],
  [
    'a negative number of streams',
    withUpstream({ origin, maxStreams: -1 }),
    'Expected `upstreams.it.maxStreams` to be a whole number >= 0, got -1 (number)',
  ],
  [
    'an observer that observes nothing',
    { ...withEndpoint({ path: '/', calls: { one: call } }), observers: [{}] },
    'Expected `observers` to be an array of objects with some of gatewayOpened, gatewayClosed, callHeaders, callStarted, callEnded, got an array',
  ],
  [
    'an observer that is no object',
    { ...withUpstream(origin), observers: [null] },
    'Expected `observers` to be an array of objects with some of gatewayOpened, gatewayClosed, callHeaders, callStarted, callEnded, got an array',
  ],
  [
    'an unknown level',
    { ...withUpstream(origin), callLogLevel: 'loud' },
    'Expected `callLogLevel` to be one of trace, debug, info, warn, error, fatal, silent, got "loud" (string)',
  ],
  [
    'a status that is no place',
    { ...withUpstream(origin), status: '/status' },
    'Expected `status` to be a boolean, or an object with some of path and route, got "/status" (string)',
  ],
  [
    'a status without slash',
    { ...withUpstream(origin), status: { path: 'status' } },
    'Expected `status.path` to be a path that begins with a slash, got "status" (string)',
  ],
  [
    'an unknown option of the status',
    { ...withUpstream(origin), status: { url: '/status' } },
    'Expected `status` to have some of path, route, got `url`',
  ],
  [
    "route options that are the endpoint's",
    withEndpoint({ path: '/', calls: { one: call }, route: { method: 'POST' } }),
    'Expected `endpoints[0].route` to be an object of route options, without method, url and handler, got an object',
  ],
  [
    'a schema that is none',
    withCall({ ...call, schema: 'User' }),
    'Expected `endpoints[0].calls.one.schema` to be a JSON Schema, got "User" (string)',
  ],
  [
    'an endpoint without path',
    withEndpoint({ calls: { one: call } }),
    'Expected `endpoints[0].path` to be a path that begins with a slash, got undefined',
  ],
  [
    'an endpoint without calls',
    withEndpoint({ path: '/', calls: {} }),
    'Expected `endpoints[0].calls` to be an object of calls by name, at least one, got an object',
  ],
  [
    'an unknown composition',
    withEndpoint({ path: '/', calls: { one: call }, compose: 'zip' }),
    'Expected `endpoints[0].compose` to be one of object, array, merge, or a function, got "zip" (string)',
  ],
  [
    'an unknown method',
    withEndpoint({ path: '/', method: 'get', calls: { one: call } }),
    'Expected `endpoints[0].method` to be one of GET, HEAD, POST, PUT, PATCH, DELETE, got "get" (string)',
  ],
  [
    'no time',
    withEndpoint({ path: '/', timeout: 0, calls: { one: call } }),
    'Expected `endpoints[0].timeout` to be a number of milliseconds from 1 to 2147483647, got 0 (number)',
  ],
  [
    'a name that is no name',
    withEndpoint({ path: '/', calls: { 'a b': call } }),
    'Expected `endpoints[0].calls.a b` to be named by letters, digits, - and _, got "a b" (string)',
  ],
  [
    'a call of an unknown upstream',
    withCall({ ...call, upstream: 'others' }),
    'Expected `endpoints[0].calls.one.upstream` to be one of it, got "others" (string)',
  ],
  ['an unknown option of a call', withCall({ ...call, retries: 1 }), 'got `retries`'],
  [
    'a header that belongs to a connection',
    withCall({ ...call, forwardHeaders: ['connection'] }),
    'Expected `endpoints[0].calls.one.forwardHeaders` to be an array of header names in lower case, and none that belongs to a connection, got an array',
  ],
  [
    'a header that asks for a continuation',
    withCall({ ...call, forwardHeaders: ['expect'] }),
    'Expected `endpoints[0].calls.one.forwardHeaders` to be an array of header names in lower case, and none that belongs to a connection, got an array',
  ],
  ...['if-none-match', 'if-modified-since', 'if-match', 'if-unmodified-since', 'if-range', 'range'].map(
    (name): [string, unknown, string] => [
      `a call that forwards ${name}`,
      withCall({ ...call, forwardHeaders: ['x-tenant', name] }),
      `Expected \`endpoints[0].calls.one.forwardHeaders\` to be without conditional headers, as a call needs the whole response, got "${name}" (string)`,
    ],
  ),
  ['a path without slash', withPath('users'), 'got "users": it begins with one slash'],
  ['a path of another origin', withPath('//evil.example/'), 'got "//evil.example/": it begins with one slash'],
  ['a path with a fragment', withPath('/a#b'), 'got "/a#b": "/a#b" has characters that must be encoded'],
  ['a path with a line break', withPath('/a\r\nb'), 'has characters that must be encoded'],
  ['a path with a wrong escape', withPath('/100%'), 'a % begins an escape of two hexadecimal digits'],
  ['a path that goes up', withPath('/a/../b'), 'its segments are none of . and ..'],
  ['a path that goes up, encoded', withPath('/a/%2e%2E'), 'its segments are none of . and ..'],
  [
    'a place without source',
    withPath('/{id}'),
    '{id} is none of {params.name}, {query.name}, {headers.name}, {body.name}, {user.name}, {calls.name}',
  ],
  ['a place that is open', withPath('/{params.id'), 'has characters that must be encoded'],
  [
    'a parameter that the path has not',
    withPath('/{params.name}'),
    'Expected `endpoints[0].calls.one.path` to take parameters of /:id, got {params.name}',
  ],
  [
    'an answer of no call',
    withPath('/{calls.two}'),
    'Expected `endpoints[0].calls.one.path` to take answers of one, got {calls.two}',
  ],
  [
    'a call that waits for itself',
    withPath('/{calls.one}'),
    'Expected `endpoints[0].calls` to wait for each other in no circle, got one -> one',
  ],
  [
    'calls that wait for each other',
    withEndpoint({
      path: '/',
      calls: {
        a: { ...call, path: '/{calls.b.x}' },
        b: { ...call, path: '/{calls.c.x}' },
        c: { ...call, path: '/{calls.a.x}' },
      },
    }),
    'got a -> b -> c -> a',
  ],
  [
    'calls and something that is handed on',
    withEndpoint({ path: '/', calls: { one: call }, passThrough: call }),
    'Expected `endpoints[0]` to have some of method, path, timeout, route, passThrough, got `calls`',
  ],
  [
    'neither calls nor something that is handed on',
    withEndpoint({ path: '/' }),
    'Expected `endpoints[0].calls` to be an object of calls by name, at least one, got undefined',
  ],
  [
    'a composition of what is handed on',
    passing({}, { compose: 'array' }),
    'Expected `endpoints[0]` to have some of method, path, timeout, route, passThrough, got `compose`',
  ],
  [
    'what is handed on to nobody',
    withEndpoint({ path: '/', passThrough: true }),
    'Expected `endpoints[0].passThrough` to be an object with `upstream` and `path`, got true (boolean)',
  ],
  [
    'what is handed on to an unknown upstream',
    passing({ upstream: 'others' }),
    'Expected `endpoints[0].passThrough.upstream` to be one of it, got "others" (string)',
  ],
  ['an option of calls where there are none', passing({ retry: 1 }), 'got `retry`'],
  [
    'an answer header that belongs to a connection',
    passing({ answerHeaders: ['transfer-encoding'] }),
    'Expected `endpoints[0].passThrough.answerHeaders` to be an array of header names in lower case, and none that belongs to a connection, got an array',
  ],
  [
    'a body of GET',
    passing({ forwardBody: true }),
    'Expected `endpoints[0].passThrough.forwardBody` to be false, as a method is GET, got true (boolean)',
  ],
  [
    'a body that becomes one of GET',
    passing({ forwardBody: true, method: 'GET' }, { method: 'POST' }),
    'Expected `endpoints[0].passThrough.forwardBody` to be false, as a method is GET, got true (boolean)',
  ],
  [
    'a parameter that the path has not, where it is handed on',
    passing({ path: '/{params.name}' }),
    'Expected `endpoints[0].passThrough.path` to take parameters of /:id, got {params.name}',
  ],
  [
    'a value of a body that is not read',
    passing({ path: '/{body.id}' }),
    'Expected `endpoints[0].passThrough.path` to take params, query, headers and user alone, got "/{body.id}"',
  ],
  [
    'a shadow of an unknown upstream',
    withCall({ ...call, shadow: { upstream: 'others' } }),
    'Expected `endpoints[0].calls.one.shadow.upstream` to be one of it, got "others" (string)',
  ],
  [
    'more than a shadow of each call',
    withCall({ ...call, shadow: { upstream: 'it', share: 2 } }),
    'Expected `endpoints[0].calls.one.shadow.share` to be a number from 0 to 1, got 2 (number)',
  ],
  [
    'a shadow of what changes something',
    withCall({ ...call, method: 'PUT', shadow: { upstream: 'it' } }),
    'Expected `endpoints[0].calls.one.method` to be GET, as it has `shadow`, got "PUT" (string)',
  ],
  [
    'a cache that is none',
    caching('memory'),
    'Expected `upstreams.it.cache` to be a boolean, or an object with options, got "memory" (string)',
  ],
  [
    'a store that is none',
    caching({ store: new Map() }),
    'Expected `upstreams.it.cache.store` to be an object with `get`, `createWriteStream` and `delete`, got an object',
  ],
  [
    'a limit of memory for another store',
    caching({ store: new KeyValueCacheStore({} as never), maxSize: 1 }),
    'Expected `upstreams.it.cache.maxSize` to be left out, as it has `store`, got 1 (number)',
  ],
  ...(
    [
      [
        'a header name with a space',
        { 'x user': 'a' },
        'x user` to be a header that an upstream can get, got "x user"',
      ],
      ['a header of the connection', { Connection: 'close' }, 'Connection` to be a header that an upstream can get'],
      ['a header that undici refuses', { expect: 'a' }, 'expect` to be a header that an upstream can get'],
      ['a header value with a line break', { 'x-user': 'a\nb' }, 'x-user` to be Latin-1 text without line breaks'],
      ['a header value beyond Latin-1', { 'x-user': 'Ł' }, 'x-user` to be Latin-1 text without line breaks, got "Ł"'],
      ['a header value that is no text', { 'x-user': 1 }, 'x-user` to be Latin-1 text without line breaks, got number'],
    ] as const
  ).map(([title, headers, message]): [string, unknown, string] => [
    title,
    withCall({ ...call, headers }),
    `Expected \`endpoints[0].calls.one.headers.${message}`,
  ]),
  [
    'a header place without source',
    withCall({ ...call, headers: { 'x-user': '{"id":1}' } }),
    'Expected `endpoints[0].calls.one.headers.x-user` to be a value with places such as {user.sub}, got "{"id":1}": {"id":1} is none of',
  ],
  [
    'a header place that is open',
    withCall({ ...call, headers: { 'x-user': '{user.sub' } }),
    'Expected `endpoints[0].calls.one.headers.x-user` to have pairs of braces around places, got "{user.sub"',
  ],
  [
    'a header of a call’s response',
    withCall({ ...call, headers: { 'x-user': '{calls.one}' } }),
    'Expected `endpoints[0].calls.one.headers.x-user` to take values of the request, got "{calls.one}"',
  ],
  [
    'a header that is both set and forwarded',
    withCall({ ...call, headers: { 'X-User': '{user.sub}' }, forwardHeaders: ['x-user'] }),
    'Expected `endpoints[0].calls.one.headers.X-User` to be set or forwarded, got both',
  ],
  [
    'a header of the body of a pass-through',
    passing({ headers: { 'x-user': '{body.id}' } }),
    'Expected `endpoints[0].passThrough.headers` to take params, query, headers and user alone, got {body}',
  ],
  [
    'a name of a header in upper case',
    withPath('/{headers.X-Tenant}'),
    'names of headers are in lower case: {headers.x-tenant}',
  ],
  [
    'a body of GET',
    withCall({ ...call, forwardBody: true }),
    'Expected `endpoints[0].calls.one.method` to be other than GET, as it has `forwardBody`, got "GET" (string)',
  ],
  [
    'more needed calls than there is room for',
    {
      upstreams: { it: { origin, connections: 1, queue: 0 } },
      endpoints: [{ path: '/', calls: { one: call, two: call } }],
    },
    'Expected `endpoints[0].calls` to need at most 1 calls to it at once (its `connections` and `queue`), got 2',
  ],
  [
    'a cache without a limit',
    caching({ maxCount: Number.POSITIVE_INFINITY }),
    'Expected `upstreams.it.cache.maxCount` to be a whole number >= 1, got Infinity (number)',
  ],
]

describe.each(WRONG)('%s', (_title, options, message) => {
  it('is refused by the factory', async () => {
    await expect(createAggregatorGateway(options as never)).rejects.toMatchObject({
      code: 'GATEWAY_INVALID_OPTION',
      message: expect.stringContaining(message) as string,
    })
  })
})

it('is refused by the plugin too', async () => {
  const app = Fastify()
  await expect(app.register(gatewayPlugin, withUpstream('users') as never)).rejects.toMatchObject({
    code: 'GATEWAY_INVALID_OPTION',
  })
  await app.close()
})

it('the plugin serves at a prefix, beside other routes', async () => {
  const app = Fastify()
  app.get('/mine', () => 'mine')
  await app.register(gatewayPlugin, {
    prefix: '/api',
    upstreams: { it: origin },
    endpoints: [{ path: '/one', calls: { one: call } }],
  })
  const answers = await Promise.all([app.inject('/mine'), app.inject('/api/one'), app.inject('/one')])
  expect(answers.map(({ statusCode }) => statusCode)).toEqual([200, 502, 404])
  await app.close()
})
