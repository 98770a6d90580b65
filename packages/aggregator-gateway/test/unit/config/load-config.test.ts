import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { dirname, join } from 'node:path'
import { Ajv } from 'ajv'
import { describe, expect, it, onTestFinished } from 'vitest'
import { build } from '../../../src/cli/gateway-process.ts'
import { findConfig, loadConfig } from '../../../src/config/load-config.ts'
import { defineConfig } from '../../../src/index.ts'
import schema from '../../../gateway.schema.json' with { type: 'json' }
import { jsonUpstream } from '../../helpers/servers.ts'

/** Writes a file into a folder of its own. Returns its path. */
function fileOf(content: unknown, name = 'gateway.json'): string {
  const folder = mkdtempSync(join(tmpdir(), 'gateway-config-'))
  onTestFinished(() => rmSync(folder, { recursive: true }))
  const path = join(folder, name)
  writeFileSync(path, typeof content === 'string' ? content : JSON.stringify(content))
  return path
}

const fastify = { logger: { level: 'warn' } }
const call = { upstream: 'it', path: '/{params.id}' }
const valid = { upstreams: { it: 'http://127.0.0.1:1' }, endpoints: [{ path: '/:id', calls: { one: call } }] }
const messageOf = async (content: unknown, name?: string, environment = {}): Promise<unknown> =>
  await loadConfig(fileOf(content, name), environment).then(
    () => undefined,
    (error: unknown) => [(error as { code: string }).code, (error as Error).message],
  )
const invalid = (message: string): unknown => ['AGGREGATOR_GATEWAY_INVALID_CONFIG', message]

describe('a configuration file', () => {
  it('has the options of the gateway and of the command', async () => {
    const path = fileOf({ $schema: './x.json', port: 4000, host: '0.0.0.0', stopTimeout: 5, ...valid })
    expect(await loadConfig(path, {})).toEqual({
      port: 4000,
      host: '0.0.0.0',
      stopTimeout: 5,
      options: { ...valid, fastify },
    })
  })

  it('has defaults', async () => {
    expect(await loadConfig(fileOf(valid), {})).toMatchObject({ port: 3000, host: 'localhost', stopTimeout: 10_000 })
  })

  it('logs warnings, unless it has a logger', async () => {
    const { options } = await loadConfig(fileOf({ ...valid, fastify: { bodyLimit: 5, logger: false } }), {})
    expect(options.fastify).toEqual({ bodyLimit: 5, logger: false })
  })

  it('may have a logger of its own', async () => {
    const methods = ['trace', 'debug', 'info', 'warn', 'error', 'fatal'].map((name) => `${name}() {}`)
    const withLogger = `{ loggerInstance: { child() { return this }, ${methods.join(', ')} } }`
    const text = `export default { upstreams: {}, endpoints: [], callLogLevel: 'info', fastify: ${withLogger} }`
    const { app } = await build(fileOf(text, 'gateway.config.mjs'))
    await app.close()
  })

  it.each([
    ['info', 'info'],
    ['trace', 'trace'],
    ['error', 'warn'],
    ['silent', 'warn'],
  ])('with callLogLevel: %j, logs from %j on', async (callLogLevel, level) => {
    const { options } = await loadConfig(fileOf({ ...valid, callLogLevel }), {})
    expect(options.fastify).toEqual({ logger: { level } })
  })

  it('has environment variables', async () => {
    const origin = await jsonUpstream((path) => path)
    const path = fileOf({
      ...valid,
      port: '${PORT}',
      host: '${HOST:-127.0.0.1}',
      upstreams: { it: '${UPSTREAM_URL}' },
      endpoints: [{ path: '/:id', calls: { one: { ...call, headers: { 'x-a': '$${A} ${A}-${B:-}' } } } }],
    })
    const { options, ...command } = await loadConfig(path, { PORT: '4000', UPSTREAM_URL: origin, A: '${B}' })
    expect(command).toMatchObject({ port: 4000, host: '127.0.0.1' })
    expect(options.upstreams).toEqual({ it: origin })
    // Values are not filled in again.
    expect(options.endpoints[0]!.calls!['one']!.headers).toEqual({ 'x-a': '${A} ${B}-' })
  })

  it('has the default of a variable that is empty', async () => {
    const { host } = await loadConfig(fileOf({ ...valid, host: '${HOST:-127.0.0.1}' }), { HOST: '' })
    expect(host).toBe('127.0.0.1')
  })

  it.each([
    ['gateway.config.ts', 'export default { upstreams: {} as Record<string, never>, endpoints: [] }'],
    ['gateway.config.mjs', 'export default { upstreams: {}, endpoints: [], observers: [{ callEnded() {} }] }'],
  ])('may be %s', async (name, text) => {
    expect(await loadConfig(fileOf(text, name), {})).toMatchObject({ port: 3000, options: { upstreams: {} } })
  })

  it('verifies tokens by the options of jwtAuthentication()', async () => {
    const authentication = { jwksUrl: 'http://127.0.0.1:1/', issuer: 'a', audience: 'b' }
    const { app } = await build(fileOf({ ...valid, authentication }))
    expect((await app.inject('/7')).statusCode).toBe(401)
    await app.close()
  })
})

describe('an invalid file', () => {
  it.each<[title: string, content: unknown, message: string]>([
    [
      'that is no JSON',
      '{\n  "port": 1,\n}',
      'gateway.json: Expected double-quoted property name in JSON at position 15 (line 3 column 1)',
    ],
    ['that is empty', '', 'gateway.json: Unexpected end of JSON input'],
    ['that is no object', '[]', 'gateway.json: Invalid options: expected an object, got an empty array.'],
    [
      'with an unknown key',
      { ...valid, ports: 1 },
      'gateway.json: Invalid option "ports": unknown. Did you mean "port"?',
    ],
    [
      'with an unknown key in a call',
      { ...valid, endpoints: [{ path: '/', calls: { user: { ...call, url: '/' } } }] },
      'gateway.json: Invalid option "endpoints[0].calls.user.url": unknown. Known here: upstream, path, allowEncodedSlash, method, headers, forwardHeaders, forwardQuery, forwardBody, optional, timeout, retries, hedge, forwardStatuses, maxDepth, schema, validate, shadow, forEach, when, target, unwrap, pick, omit, rename.',
    ],
    [
      'with an invalid port',
      { ...valid, port: 99_999 },
      'gateway.json: Invalid option "port": expected an integer from 0 to 65535 or a text of digits, got 99999.',
    ],
    [
      'with invalid options of tokens',
      { ...valid, authentication: { jwksUrl: 'x', issuer: 'a', audience: 'b' } },
      'gateway.json: Invalid option "authentication.jwksUrl": expected a URL such as "https://id.example.com/.well-known/jwks.json", got "x".',
    ],
    [
      'with TLS',
      { ...valid, fastify: { https: {} } },
      'gateway.json: Invalid option "fastify.https": the command serves HTTP/1.1 without TLS.',
    ],
    [
      'with missing environment variables',
      { upstreams: { it: '${A}', other: 'http://${B:-b}:${C}' }, endpoints: [{ path: '${A}' }] },
      'gateway.json: Missing environment variables: A (upstreams.it), C (upstreams.other), A (endpoints[0].path)',
    ],
    [
      'with variables in another form',
      { ...valid, host: '${HOST', $schema: '${A-b}', endpoints: [{ path: '/${A:-{b}}' }] },
      'gateway.json: Invalid variables (endpoints[0].path, host, $schema): expected ${NAME} or ${NAME:-default}. Write $${ for the text ${.',
    ],
  ])('%s', async (_title, content, message) => {
    expect(await messageOf(content)).toEqual(invalid(message))
  })

  it('that is a folder', async () => {
    const path = fileOf(valid)
    const folder = join(dirname(path), 'folder.json')
    mkdirSync(folder)
    await expect(loadConfig(folder, {})).rejects.toThrow('folder.json: EISDIR: illegal operation on a directory, read')
  })

  it.each([
    ['export const config = {}', 'gateway.config.mjs: It has no default export'],
    ['throw new Error("one\\ntwo")', "gateway.config.mjs: It can't be imported: one two"],
  ])('that is the module %s', async (text, message) => {
    expect(await messageOf(text, 'gateway.config.mjs')).toEqual(invalid(message))
  })

  it('whose templates are invalid', async () => {
    const path = fileOf({ ...valid, endpoints: [{ path: '/', calls: { one: call } }] })
    await expect(build(path)).rejects.toThrow(
      'gateway.json: Invalid option "endpoints[0].calls.one.path": expected path parameters of /, got "{params.id}".',
    )
  })

  it('whose port is above 65535 as a text', async () => {
    expect(await messageOf({ ...valid, port: '99999' })).toEqual(
      invalid('gateway.json: Invalid option "port": expected a port from 0 to 65535, got "99999".'),
    )
  })
})

it('finds the file by its name, or the first of the usual names', () => {
  const path = fileOf(valid, 'gateway.config.json')
  const folder = join(path, '..')
  expect(findConfig(undefined, folder)).toBe(path)
  expect(findConfig('gateway.config.json', folder)).toBe(path)
  expect(() => findConfig('other.json', folder)).toThrow('No file other.json')
  rmSync(path)
  expect(() => findConfig(undefined, folder)).toThrow(
    'No configuration file: expected gateway.json, gateway.config.ts, gateway.config.js, gateway.config.mjs, gateway.config.json',
  )
})

it('defineConfig() returns the configuration', () => {
  const config = { upstreams: {}, endpoints: [] } as const
  expect(defineConfig(config)).toBe(config)
})

describe('gateway.schema.json', () => {
  const isValid = new Ajv({ allowUnionTypes: true }).compile(schema)

  it.each([
    valid,
    { $schema: 'x', port: '${PORT}'.replace('${PORT}', '3000'), ...valid },
    { ...valid, authentication: { jwksUrl: 'https://a/', issuer: 'a', audience: 'b', algorithms: ['RS256'] } },
    { ...valid, upstreams: { it: { origin: ['http://a', 'http://b'], circuitBreaker: false, cache: true } } },
    { ...valid, endpoints: [{ path: '/', passThrough: { upstream: 'it', path: '/', heartbeat: 1 } }] },
    {
      ...valid,
      endpoints: [
        {
          path: '/',
          calls: { one: { ...call, forEach: '{body.a}', when: ['{query.a}', { value: '{query.b}', in: [1, null] }] } },
        },
      ],
    },
  ])('accepts %j', (config) => {
    expect([isValid(config), isValid.errors]).toEqual([true, null])
  })

  it.each([
    { ...valid, wrong: 1 },
    { upstreams: {} },
    { ...valid, port: 'x' },
    { ...valid, endpoints: [{ path: '/', calls: { one: { ...call, retry: 1 } } }] },
    { ...valid, endpoints: [{ path: '/', calls: { one: { path: '/' } } }] },
    { ...valid, observers: [] },
  ])('rejects %j', (config) => {
    expect(isValid(config)).toBe(false)
  })
})
