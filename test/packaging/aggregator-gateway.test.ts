// What people get: the tarball, in an empty project, and what the README tells them to do with it.

import { globSync, readFileSync } from 'node:fs'
import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import { once } from 'node:events'
import { join } from 'node:path'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { NOT_INSTALLED } from '../docs/code-blocks.ts'
import { run, Tarball, tsconfig } from './tarball.ts'
import { isWellPacked } from './well-packed.ts'

const tarball = new Tarball('aggregator-gateway')
const { project } = tarball

const pages = ['README.md', ...globSync('docs/*.md', { cwd: tarball.source })]
  .map((path) => readFileSync(join(tarball.source, path), 'utf8'))
  .join('\n')
/** The programs of the README and of docs/ by name. */
const samples = Object.fromEntries(
  [...pages.matchAll(/```ts\n(\/\/ (\S+\.ts)\n[\s\S]*?)```/g)].map(([, text, name]) => [name!, text!]),
)
/** That of metrics, with an upstream, and one request and a look at what Prometheus gets in place of a port. */
const metrics = samples['metrics.ts']!.replace("'http://localhost:3001'", 'process.argv[2]!').replace(
  'await app.listen({ port: 3000 })',
  "await app.inject('/users/7')\nconsole.log((await app.inject('/metrics')).body)\nawait app.close()",
)

/** That of routes, which tells its OpenAPI in place of a port. */
const routes = samples['routes.ts']!.replace(
  'await app.listen({ port: 3000 })',
  "console.log((await app.inject('/openapi.json')).body)\nawait app.close()",
)

const FILES = {
  ...samples,
  'metrics.ts': metrics,
  'routes.ts': routes,
  'package.json': '{ "private": true, "type": "module" }\n',
  'types.ts': `
import { createAggregatorGateway, gatewayPlugin, type CallOptions } from 'aggregator-gateway'
import Fastify from 'fastify'

const profile = { upstream: 'users', path: '/users/{params.id}' } satisfies CallOptions
const upstreams = { users: 'http://localhost:3001' }
const endpoints = [{ path: '/:id', calls: { profile } }] as const
await Fastify().register(gatewayPlugin, { prefix: '/api', upstreams, endpoints })
const app = await createAggregatorGateway({ upstreams, endpoints: [{ path: '/:id', calls: { profile }, compose: ({ profile }) => profile }] })
app.gatewayStats('/api')?.upstreams satisfies object | undefined
// @ts-expect-error An endpoint needs calls.
await createAggregatorGateway({ upstreams, endpoints: [{ path: '/:id' }] })
`,
  // The SDK of `tracing.ts` is large, and not installed here.
  'not-installed.d.ts': NOT_INSTALLED,
  'tsconfig.json': tsconfig(['types.ts', 'not-installed.d.ts', ...Object.keys(samples)]),
}

beforeAll(() =>
  tarball.install(FILES, [
    ...['fastify', '@types/node', 'prom-client', '@opentelemetry/api'],
    ...['@fastify/rate-limit', '@fastify/swagger', '@fastify/http-proxy', 'jose'],
  ]),
)

afterAll(() => tarball.remove())

isWellPacked(tarball, {
  beside: ['gateway.schema.json'],
  dependencies: [
    '@fastify/error',
    'ajv',
    'ajv-formats',
    'checked-options',
    'cockatiel',
    'fastify-plugin',
    'undici',
    'valibot',
  ],
  values: [
    'KeyValueCacheStore',
    'claimsOf',
    'createAggregatorGateway',
    'default',
    'defineConfig',
    'errorCodes',
    'gatewayPlugin',
    'typedCall',
  ],
  types: [
    'Authenticator',
    'CacheOptions',
    'CacheStore',
    'CallEnd',
    'CallOptions',
    'CallValue',
    'CircuitBreakerOptions',
    'Claims',
    'Composition',
    'Condition',
    'ConditionOptions',
    'ConditionValue',
    'CreateAggregatorGatewayOptions',
    'EndpointOptions',
    'FailureReason',
    'ForEachOptions',
    'GatewayConfig',
    'GatewayObserver',
    'GatewayPluginOptions',
    'GatewayStatus',
    'HeadersOption',
    'JwtAlgorithm',
    'JwtAuthenticationOptions',
    'KeyValueCacheStoreOptions',
    'KeyValueStore',
    'MakeHeaders',
    'MappingOptions',
    'Method',
    'ObservedCall',
    'ObservedGateway',
    'OpenApiResponse',
    'OriginStatus',
    'PassThroughEndpointOptions',
    'PassThroughOptions',
    'ShadowOptions',
    'StatusOptions',
    'TypedCall',
    'UpstreamOptions',
  ],
})

describe('in an empty project', () => {
  it.each([
    ['require()', 'prometheus', "const observers = require('aggregator-gateway/prometheus')"],
    ['require()', 'openTelemetry', "const observers = require('aggregator-gateway/opentelemetry')"],
    ['import', 'prometheus', "const observers = await import('aggregator-gateway/prometheus')"],
    ['import', 'openTelemetry', "const observers = await import('aggregator-gateway/opentelemetry')"],
  ])('%s gives the observer %s', async (name, observer, load) => {
    const type = name === 'require()' ? 'commonjs' : 'module'
    const program = `${load}; console.log(Object.keys(observers).join(), typeof observers.${observer}Observer)`
    const { code, output } = await run(project, [process.execPath, `--input-type=${type}`, '-e', program])
    expect({ code, output }).toEqual({ code: 0, output: `${observer}Observer function\n` })
  })

  it.each([
    ['commonjs', "const jwt = require('aggregator-gateway/jwt')"],
    ['module', "const jwt = await import('aggregator-gateway/jwt')"],
  ])('jwtAuthentication comes with its own export, as %s', async (type, load) => {
    const program = `${load}; console.log(typeof jwt.jwtAuthentication)`
    const { code, output } = await run(project, [process.execPath, `--input-type=${type}`, '-e', program])
    expect({ code, output }).toEqual({ code: 0, output: 'function\n' })
  })

  it('the metrics of the README are there', async () => {
    const upstream = createServer((_request, response) => {
      response.setHeader('content-type', 'application/json').end('{}')
    }).listen(0, '127.0.0.1')
    await once(upstream, 'listening')
    const origin = `http://127.0.0.1:${(upstream.address() as AddressInfo).port}`
    try {
      const { code, output } = await run(project, [process.execPath, 'metrics.ts', origin])
      expect(code).toBe(0)
      expect(output).toContain(
        'gateway_call_duration_seconds_count{method="GET",route="/users/:id",call="profile",upstream="users"} 1\n',
      )
      expect(output).toContain(`gateway_origin_circuit_open{upstream="users",origin="${origin}"} 0\n`)
    } finally {
      upstream.close()
    }
  })

  it('the OpenAPI document of the README has what its endpoint answers', async () => {
    const { code, output } = await run(project, [process.execPath, 'routes.ts'])
    expect(code).toBe(0)
    const { paths } = JSON.parse(output) as { paths: Record<string, { get: { responses: object } }> }
    expect(Object.keys(paths['/users/{id}']!.get.responses)).toEqual(['200', '400', '502', '503', '504'])
  })

  it('its types and those of the README hold', async () => {
    expect(await tarball.tsc()).toEqual({ code: 0, stdout: '', output: '' })
  })
})
