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

/** Each message with the options that it is about. */
const WRONG: readonly [message: string, options: unknown][] = [
  ['Invalid options: expected an object, got undefined.', undefined],
  [
    'Invalid option "wrong": unknown. Known here: upstreams, endpoints, authentication, coalesce, observers, callLogLevel, status, fastify.',
    { upstreams: {}, endpoints: [], wrong: 1 },
  ],
  [
    'Invalid option "upstreams": expected an object, each value an origin such as "http://users:3000" or an object, got undefined.',
    { endpoints: [] },
  ],
  ['Invalid option "endpoints": expected an array, each item an object, got undefined.', { upstreams: {} }],
  [
    'Invalid option "upstreams.it": expected an origin such as "http://users:3000" or an object, got "users".',
    withUpstream('users'),
  ],
  [
    'Invalid option "upstreams.it": expected an origin such as "http://users:3000" or an object, got "http://users/api".',
    withUpstream('http://users/api'),
  ],
  [
    'Invalid option "upstreams.it.origin": expected an origin such as "http://users:3000" or an array, each item an origin such as "http://users:3000", got "file:///etc".',
    withUpstream({ origin: 'file:///etc' }),
  ],
  ...['http://users:99999', 'http://users:abc', 'http://[::1'].map((value): [string, unknown] => [
    `Invalid option "upstreams.it": expected an origin such as "http://users:3000" or an object, got "${value}".`,
    withUpstream(value),
  ]),
  [
    'Invalid option "upstreams.it.origin": expected at least one origin, got an empty array.',
    withUpstream({ origin: [] }),
  ],
  [
    'Invalid option "upstreams.it.maxConnections": expected an integer of at least 1, got 0.',
    withUpstream({ origin, maxConnections: 0 }),
  ],
  [
    'Invalid option "upstreams.it.maxQueue": expected an integer of at least 0, got 0.5.',
    withUpstream({ origin, maxQueue: 0.5 }),
  ],
  [
    'Invalid option "upstreams.it.maxStreams": expected an integer of at least 0, got -1.',
    withUpstream({ origin, maxStreams: -1 }),
  ],
  [
    'Invalid option "observers[0]": expected an object with any of gatewayOpened, gatewayClosed, callHeaders, callStarted, callEnded, got an object.',
    { ...withEndpoint({ path: '/', calls: { one: call } }), observers: [{}] },
  ],
  [
    'Invalid option "observers[0]": expected an object with any of gatewayOpened, gatewayClosed, callHeaders, callStarted, callEnded, got null.',
    { ...withUpstream(origin), observers: [null] },
  ],
  [
    'Invalid option "observers[0].callEnd": unknown. Did you mean "callEnded"?',
    { ...withUpstream(origin), observers: [{ callStarted: () => {}, callEnd: () => {} }] },
  ],
  [
    'Invalid option "callLogLevel": expected "trace" or "debug" or "info" or "warn" or "error" or "fatal" or "silent", got "loud".',
    { ...withUpstream(origin), callLogLevel: 'loud' },
  ],
  [
    'Invalid option "status": expected a boolean or an object, got "/status".',
    { ...withUpstream(origin), status: '/status' },
  ],
  [
    'Invalid option "status.path": expected a path that starts with a slash, got "status".',
    { ...withUpstream(origin), status: { path: 'status' } },
  ],
  [
    'Invalid option "status.url": unknown. Known here: path, route.',
    { ...withUpstream(origin), status: { url: '/status' } },
  ],
  [
    'Invalid option "endpoints[0].route": expected an object of route options without method, url and handler, got an object.',
    withEndpoint({ path: '/', calls: { one: call }, route: { method: 'POST' } }),
  ],
  [
    'Invalid option "endpoints[0].calls.one.schema": expected an object, got "User".',
    withCall({ ...call, schema: 'User' }),
  ],
  [
    'Invalid option "endpoints[0].path": expected a path that starts with a slash, got undefined.',
    withEndpoint({ calls: { one: call } }),
  ],
  [
    'Invalid option "endpoints[0].calls": expected at least one call, got an object.',
    withEndpoint({ path: '/', calls: {} }),
  ],
  [
    'Invalid option "endpoints[0].compose": expected "object" or "array" or "merge" or a function, got "zip".',
    withEndpoint({ path: '/', calls: { one: call }, compose: 'zip' }),
  ],
  [
    'Invalid option "endpoints[0].method": expected "GET" or "HEAD" or "POST" or "PUT" or "PATCH" or "DELETE", got "get".',
    withEndpoint({ path: '/', method: 'get', calls: { one: call } }),
  ],
  [
    'Invalid option "endpoints[0].timeout": expected milliseconds, an integer from 1 to 2147483647, got 0.',
    withEndpoint({ path: '/', timeout: 0, calls: { one: call } }),
  ],
  [
    'Invalid option "endpoints[0].calls.a b": expected a name of letters, digits, "-" and "_", got "a b".',
    withEndpoint({ path: '/', calls: { 'a b': call } }),
  ],
  [
    'Invalid option "endpoints[0].calls.one.upstream": expected an upstream of it, got "others".',
    withCall({ ...call, upstream: 'others' }),
  ],
  [
    'Invalid option "endpoints[0].calls.one.retires": unknown. Did you mean "retries"?',
    withCall({ ...call, retires: 1 }),
  ],
  [
    'Invalid option "endpoints[0].calls.one.forwardHeaders[0]": expected the lower-case name of a header that is neither of one connection nor conditional, got "connection".',
    withCall({ ...call, forwardHeaders: ['connection'] }),
  ],
  [
    'Invalid option "endpoints[0].calls.one.forwardHeaders[0]": expected the lower-case name of a header that is neither of one connection nor conditional, got "expect".',
    withCall({ ...call, forwardHeaders: ['expect'] }),
  ],
  ...['if-none-match', 'if-modified-since', 'if-match', 'if-unmodified-since', 'if-range', 'range'].map(
    (name): [string, unknown] => [
      `Invalid option "endpoints[0].calls.one.forwardHeaders[1]": expected the lower-case name of a header that is neither of one connection nor conditional, got "${name}".`,
      withCall({ ...call, forwardHeaders: ['x-tenant', name] }),
    ],
  ),
  [
    'Invalid option "endpoints[0].calls.one.path": expected a path such as "/users/{params.id}" (it must start with a single slash), got "users".',
    withPath('users'),
  ],
  [
    'Invalid option "endpoints[0].calls.one.path": expected a path such as "/users/{params.id}" (it must start with a single slash), got "//evil.example/".',
    withPath('//evil.example/'),
  ],
  [
    'Invalid option "endpoints[0].calls.one.path": expected a path such as "/users/{params.id}" (some characters must be encoded), got "/a#b".',
    withPath('/a#b'),
  ],
  [
    'Invalid option "endpoints[0].calls.one.path": expected a path such as "/users/{params.id}" (some characters must be encoded), got "/a\\r\\nb".',
    withPath('/a\r\nb'),
  ],
  [
    'Invalid option "endpoints[0].calls.one.path": expected a path such as "/users/{params.id}" (a % must start an escape of two hexadecimal digits), got "/100%".',
    withPath('/100%'),
  ],
  [
    'Invalid option "endpoints[0].calls.one.path": expected a path such as "/users/{params.id}" (in the query, a placeholder can be a value, not a name), got "/a?b=1&{query.c}=2".',
    withPath('/a?b=1&{query.c}=2'),
  ],
  [
    'Invalid option "endpoints[0].calls.one.path": expected a path such as "/users/{params.id}" (in the query, a placeholder can be a value, not a name), got "/a?{query.c}".',
    withPath('/a?{query.c}'),
  ],
  [
    'Invalid option "endpoints[0].calls.one.path": expected a path such as "/users/{params.id}" (in the query, a placeholder can be a value, not a name), got "/a?b={query.c}&x{query.d}y=1".',
    withPath('/a?b={query.c}&x{query.d}y=1'),
  ],
  [
    'Invalid option "endpoints[0].calls.one.path": expected a path such as "/users/{params.id}" (no segment may be . or ..), got "/a/../b".',
    withPath('/a/../b'),
  ],
  [
    'Invalid option "endpoints[0].calls.one.path": expected a path such as "/users/{params.id}" (no segment may be . or ..), got "/a/%2e%2E".',
    withPath('/a/%2e%2E'),
  ],
  [
    'Invalid option "endpoints[0].calls.one.path": expected a path such as "/users/{params.id}" ({id} is none of {params.name}, {query.name}, {headers.name}, {body.name}, {user.name}, {claims.name}, {calls.name}, {item.name}), got "/{id}".',
    withPath('/{id}'),
  ],
  [
    'Invalid option "endpoints[0].calls.one.path": expected a path such as "/users/{params.id}" (some characters must be encoded), got "/{params.id".',
    withPath('/{params.id'),
  ],
  [
    'Invalid option "endpoints[0].calls.one.path": expected path parameters of /:id, got "{params.name}".',
    withPath('/{params.name}'),
  ],
  [
    'Invalid option "endpoints[0].calls.one.path": expected values of the calls one, got "{calls.two}".',
    withPath('/{calls.two}'),
  ],
  ['Invalid option "endpoints[0].calls": expected no circular dependency, got "one -> one".', withPath('/{calls.one}')],
  [
    'Invalid option "endpoints[0].calls": expected no circular dependency, got "a -> b -> c -> a".',
    withEndpoint({
      path: '/',
      calls: {
        a: { ...call, path: '/{calls.b.x}' },
        b: { ...call, path: '/{calls.c.x}' },
        c: { ...call, path: '/{calls.a.x}' },
      },
    }),
  ],
  [
    'Invalid option "endpoints[0].calls": unknown. Known here: method, path, timeout, route, authentication, passThrough.',
    withEndpoint({ path: '/', calls: { one: call }, passThrough: call }),
  ],
  [
    'Invalid option "endpoints[0].calls": expected an object, each value an object, got undefined.',
    withEndpoint({ path: '/' }),
  ],
  [
    'Invalid option "endpoints[0].compose": unknown. Known here: method, path, timeout, route, authentication, passThrough.',
    passing({}, { compose: 'array' }),
  ],
  [
    'Invalid option "endpoints[0].passThrough": expected an object, got true.',
    withEndpoint({ path: '/', passThrough: true }),
  ],
  [
    'Invalid option "endpoints[0].passThrough.upstream": expected an upstream of it, got "others".',
    passing({ upstream: 'others' }),
  ],
  [
    'Invalid option "endpoints[0].passThrough.retries": unknown. Known here: upstream, path, allowEncodedSlash, method, headers, forwardHeaders, forwardQuery, forwardBody, responseHeaders, maxResponseBytes, clientTimeout, heartbeat.',
    passing({ retries: 1 }),
  ],
  [
    'Invalid option "endpoints[0].passThrough.responseHeaders[0]": expected the lower-case name of a header that is not of one connection, got "transfer-encoding".',
    passing({ responseHeaders: ['transfer-encoding'] }),
  ],
  [
    'Invalid option "endpoints[0].passThrough.forwardBody": expected false for GET, got true.',
    passing({ forwardBody: true }),
  ],
  [
    'Invalid option "endpoints[0].passThrough.forwardBody": expected false for GET, got true.',
    passing({ forwardBody: true, method: 'GET' }, { method: 'POST' }),
  ],
  [
    'Invalid option "endpoints[0].passThrough.path": expected path parameters of /:id, got "{params.name}".',
    passing({ path: '/{params.name}' }),
  ],
  [
    'Invalid option "endpoints[0].passThrough.path": expected values of params, query, headers, user and claims only, got "/{body.id}".',
    passing({ path: '/{body.id}' }),
  ],
  [
    'Invalid option "endpoints[0].calls.one.shadow.upstream": expected an upstream of it, got "others".',
    withCall({ ...call, shadow: { upstream: 'others' } }),
  ],
  [
    'Invalid option "authentication": expected an object with authenticate, such as jwtAuthentication(), and a valid challenge if any, got an object.',
    { upstreams: {}, authentication: {}, endpoints: [] },
  ],
  [
    'Invalid option "authentication": expected an object with authenticate, such as jwtAuthentication(), and a valid challenge if any, got an object.',
    {
      upstreams: {},
      authentication: { authenticate: async () => undefined, challenge: 'Basic\r\nx: y' },
      endpoints: [],
    },
  ],
  [
    'Invalid option "endpoints[0].authentication": expected a boolean or "optional", got "none".',
    withEndpoint({ path: '/', authentication: 'none', calls: { one: call } }),
  ],
  [
    'Invalid option "endpoints[0].calls.one.forEach": expected a placeholder such as "{calls.orders.items}" or an object, got "items".',
    withCall({ ...call, forEach: 'items' }),
  ],
  [
    'Invalid option "endpoints[0].calls.one.forEach.concurrency": expected an integer of at least 1, got 0.',
    withCall({ ...call, path: '/{item}', forEach: { items: '{body.ids}', concurrency: 0 } }),
  ],
  [
    'Invalid option "endpoints[0].calls.one.forEach": expected a list of the request or a call ({item.ids} is for the path of a call with forEach), got "{item.ids}".',
    withCall({ ...call, path: '/{item}', forEach: '{item.ids}' }),
  ],
  [
    'Invalid option "endpoints[0].calls.one.path": expected a path with {item} or {item.name}, got "/".',
    withCall({ ...call, forEach: '{body.ids}' }),
  ],
  [
    'Invalid option "endpoints[0].calls.one.path": expected a path such as "/users/{params.id}" ({item.id} is for the path of a call with forEach), got "/{item.id}".',
    withPath('/{item.id}'),
  ],
  [
    'Invalid option "endpoints[0].calls.one.method": expected GET for a call with forEach, got "POST".',
    withCall({ ...call, path: '/{item}', forEach: '{body.ids}', method: 'POST' }),
  ],
  [
    'Invalid option "endpoints[0].calls.one.forEach": expected no list in an endpoint with compose "merge", got "{body.ids}".',
    withEndpoint({ path: '/', compose: 'merge', calls: { one: { ...call, path: '/{item}', forEach: '{body.ids}' } } }),
  ],
  [
    'Invalid option "endpoints[0].calls.one.path": expected values of the calls one, got "{calls.others}".',
    withCall({ ...call, path: '/{item}', forEach: '{calls.others}' }),
  ],
  [
    'Invalid option "endpoints[0].calls.one.when": expected values of the calls one, got "{calls.others}".',
    withCall({ ...call, when: '{calls.others}' }),
  ],
  [
    'Invalid option "endpoints[0].calls": expected no circular dependency, got "one -> one".',
    withCall({ ...call, when: '{calls.one}' }),
  ],
  [
    'Invalid option "endpoints[0].calls.one.when": expected conditions on the request or calls (it needs either `in` or `notIn`), got an object.',
    withCall({ ...call, when: { value: '{query.a}' } }),
  ],
  [
    'Invalid option "endpoints[0].calls.one.when": expected conditions on the request or calls ({item.a} is for the path of a call with forEach), got "{item.a}".',
    withCall({ ...call, when: '{item.a}' }),
  ],
  [
    'Invalid option "endpoints[0].calls.one.shadow.share": expected a number from 0 to 1, got 2.',
    withCall({ ...call, shadow: { upstream: 'it', share: 2 } }),
  ],
  [
    'Invalid option "endpoints[0].calls.one.method": expected GET for a call with a shadow, got "PUT".',
    withCall({ ...call, method: 'PUT', shadow: { upstream: 'it' } }),
  ],
  ['Invalid option "upstreams.it.cache": expected a boolean or an object, got "memory".', caching('memory')],
  [
    'Invalid option "upstreams.it.cache.store": expected a cache store with get, createWriteStream, delete, got an instance of Map.',
    caching({ store: new Map() }),
  ],
  [
    'Invalid option "upstreams.it.cache.maxBytes": expected no limit of memory beside a store, got 1.',
    caching({ store: new KeyValueCacheStore({} as never), maxBytes: 1 }),
  ],
  ...(
    [
      ['x user": expected a header that can be sent, got "x user".', { 'x user': 'a' }],
      ['Connection": expected a header that can be sent, got "connection".', { Connection: 'close' }],
      ['expect": expected a header that can be sent, got "expect".', { expect: 'a' }],
      ['x-user": expected Latin-1 text without line breaks, got "a\\nb".', { 'x-user': 'a\nb' }],
      ['x-user": expected Latin-1 text without line breaks, got "Ł".', { 'x-user': 'Ł' }],
      ['x-user": expected Latin-1 text without line breaks, got 1.', { 'x-user': 1 }],
    ] as const
  ).map(([message, headers]): [string, unknown] => [
    `Invalid option "endpoints[0].calls.one.headers.${message}`,
    withCall({ ...call, headers }),
  ]),
  [
    'Invalid option "endpoints[0].calls.one.headers.x-user": expected a value with placeholders such as {user.sub} ({"id":1} is none of {params.name}, {query.name}, {headers.name}, {body.name}, {user.name}, {claims.name}, {calls.name}, {item.name}), got "{\\"id\\":1}".',
    withCall({ ...call, headers: { 'x-user': '{"id":1}' } }),
  ],
  [
    'Invalid option "endpoints[0].calls.one.headers.x-user": expected placeholders in pairs of braces, got "{user.sub".',
    withCall({ ...call, headers: { 'x-user': '{user.sub' } }),
  ],
  [
    'Invalid option "endpoints[0].calls.one.headers.x-user": expected values of the request only, got "{calls.one}".',
    withCall({ ...call, headers: { 'x-user': '{calls.one}' } }),
  ],
  [
    'Invalid option "endpoints[0].calls.one.headers.X-User": expected a header that is not forwarded too, got "{user.sub}".',
    withCall({ ...call, headers: { 'X-User': '{user.sub}' }, forwardHeaders: ['x-user'] }),
  ],
  [
    'Invalid option "endpoints[0].calls.one.headers.X-Tenant": expected a header that is not forwarded too, got "a".',
    withCall({ ...call, headers: { 'X-Tenant': 'a' }, forwardHeaders: ['x-tenant'] }),
  ],
  [
    'Invalid option "endpoints[0].passThrough.headers.content-type": expected a header that is not forwarded too, got "text/csv".',
    passing({ headers: { 'content-type': 'text/csv' }, forwardBody: true }, { method: 'POST' }),
  ],
  [
    'Invalid option "endpoints[0].passThrough.headers": expected values of params, query, headers, user and claims only, got "{body}".',
    passing({ headers: { 'x-user': '{body.id}' } }),
  ],
  [
    'Invalid option "endpoints[0].calls.one.path": expected a path such as "/users/{params.id}" (header names must be in lower case: {headers.x-tenant}), got "/{headers.X-Tenant}".',
    withPath('/{headers.X-Tenant}'),
  ],
  [
    'Invalid option "endpoints[0].calls.one.method": expected a method with a body for forwardBody, got "GET".',
    withCall({ ...call, forwardBody: true }),
  ],
  [
    'Invalid option "endpoints[0].calls": expected at most 1 required calls to "it", its maxConnections and maxQueue, got 2.',
    {
      upstreams: { it: { origin, maxConnections: 1, maxQueue: 0 } },
      endpoints: [{ path: '/', calls: { one: call, two: call } }],
    },
  ],
  [
    'Invalid option "upstreams.it.cache.maxEntries": expected an integer of at least 1, got Infinity.',
    caching({ maxEntries: Number.POSITIVE_INFINITY }),
  ],
  [
    'Invalid option "upstreams.it.circuitBreaker": expected false or an object, got true.',
    withUpstream({ origin, circuitBreaker: true }),
  ],
  [
    'Invalid option "upstreams.it.circuitBreaker.errorRate": expected a number between 0 and 1, both excluded, got 1.',
    withUpstream({ origin, circuitBreaker: { errorRate: 1 } }),
  ],
  [
    'Invalid option "endpoints[0].calls.one.method": expected GET, PUT or DELETE for a call with retries, got "POST".',
    withCall({ ...call, method: 'POST', retries: 1 }),
  ],
  [
    'Invalid option "endpoints[0].calls.one.method": expected GET for a hedged call, got "PUT".',
    withCall({ ...call, method: 'PUT', hedge: true }),
  ],
]

/** Names before 1.0. */
const RENAMED: readonly [message: string, options: unknown][] = [
  ['Invalid option "upstreams.it.connections": renamed to "maxConnections".', withUpstream({ origin, connections: 1 })],
  ['Invalid option "upstreams.it.queue": renamed to "maxQueue".', withUpstream({ origin, queue: 1 })],
  ['Invalid option "upstreams.it.breaker": renamed to "circuitBreaker".', withUpstream({ origin, breaker: false })],
  [
    'Invalid option "upstreams.it.maxResponseSize": renamed to "maxResponseBytes".',
    withUpstream({ origin, maxResponseSize: 1 }),
  ],
  [
    'Invalid option "upstreams.it.circuitBreaker.threshold": renamed to "errorRate".',
    withUpstream({ origin, circuitBreaker: { threshold: 0.5 } }),
  ],
  [
    'Invalid option "upstreams.it.circuitBreaker.calls": renamed to "window".',
    withUpstream({ origin, circuitBreaker: { calls: 1 } }),
  ],
  [
    'Invalid option "upstreams.it.circuitBreaker.openFor": renamed to "resetTimeout".',
    withUpstream({ origin, circuitBreaker: { openFor: 1 } }),
  ],
  ['Invalid option "upstreams.it.cache.maxSize": renamed to "maxBytes".', caching({ maxSize: 1 })],
  ['Invalid option "upstreams.it.cache.maxCount": renamed to "maxEntries".', caching({ maxCount: 1 })],
  ['Invalid option "upstreams.it.cache.maxEntrySize": renamed to "maxEntryBytes".', caching({ maxEntrySize: 1 })],
  ['Invalid option "endpoints[0].calls.one.retry": renamed to "retries".', withCall({ ...call, retry: 1 })],
  [
    'Invalid option "endpoints[0].calls.one.propagate": renamed to "forwardStatuses".',
    withCall({ ...call, propagate: [] }),
  ],
  [
    'Invalid option "endpoints[0].passThrough.answerHeaders": renamed to "responseHeaders".',
    passing({ answerHeaders: [] }),
  ],
  [
    'Invalid option "endpoints[0].passThrough.maxResponseSize": renamed to "maxResponseBytes".',
    passing({ maxResponseSize: 1 }),
  ],
]

describe.each([...WRONG, ...RENAMED])('%s', (message, options) => {
  it('is the error of the factory', async () => {
    await expect(createAggregatorGateway(options as never)).rejects.toMatchObject({
      code: 'AGGREGATOR_GATEWAY_INVALID_OPTION',
      message,
    })
  })
})

it('each message is one line', () => {
  expect([...WRONG, ...RENAMED].filter(([message]) => message.includes('\n'))).toEqual([])
})

it('the plugin rejects invalid options, too', async () => {
  const app = Fastify()
  await expect(app.register(gatewayPlugin, withUpstream('users') as never)).rejects.toMatchObject({
    code: 'AGGREGATOR_GATEWAY_INVALID_OPTION',
  })
  await app.close()
})

it('KeyValueCacheStore rejects the old name of its option', () => {
  expect(() => new KeyValueCacheStore({} as never, { maxEntrySize: 1 } as never)).toThrow(
    'Invalid option "maxEntrySize": renamed to "maxEntryBytes".',
  )
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
