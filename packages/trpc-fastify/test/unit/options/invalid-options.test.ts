import websocket from '@fastify/websocket'
import { initTRPC, lazy } from '@trpc/server'
import { fastifyTRPCPlugin } from '@trpc/server/adapters/fastify'
import Fastify, { type FastifyInstance } from 'fastify'
import { createTrpcFastify, trpcPlugin } from 'trpc-fastify'
import { describe, expect, it } from 'vitest'

/** A value, and what the message says was expected and came. */
type Wrong = readonly [value: unknown, expected: string, got: string]

const t = initTRPC.create()
const router = t.router({ hello: t.procedure.query(() => 'world') })

const notA = (expected: string, ...wrong: [unknown, string][]): Wrong[] =>
  wrong.map(([value, got]) => [value, expected, got])

const notABoolean = notA(
  'a boolean',
  ['true', '"true" (string)'],
  [1, '1 (number)'],
  [null, 'null'],
  [{}, 'an object'],
  [Symbol('true'), 'a symbol'],
)
const notAFunction = notA(
  'a function',
  ['text', '"text" (string)'],
  [null, 'null'],
  [{}, 'an object'],
  [false, 'false (boolean)'],
  [[() => 1], 'an array'],
)
const notANumber = (expected: string): Wrong[] =>
  notA(
    expected,
    ['5', '"5" (string)'],
    [null, 'null'],
    [-1, '-1 (number)'],
    [Number.NaN, 'NaN (number)'],
    [5n, 'a bigint'],
    [[5], 'an array'],
  )

const PLUGIN_OPTIONS: Record<string, Wrong[]> = {
  prefix: notA('a string', [5, '5 (number)'], [null, 'null'], [['/trpc'], 'an array'], [/trpc/, 'an object']),
  useWSS: notABoolean,
  engine: notA(
    'one of compiled, direct, official',
    ['fast', '"fast" (string)'],
    ['', '"" (string)'],
    [true, 'true (boolean)'],
    [null, 'null'],
    [['direct'], 'an array'],
  ),
  procedures: notA('an object of rules by path', ['hello', '"hello" (string)'], [null, 'null'], [[], 'an array']),
  batchConcurrency: [
    ...notANumber('a whole number >= 1, or Infinity'),
    ...notA('a whole number >= 1, or Infinity', [0, '0 (number)'], [1.5, '1.5 (number)']),
  ],
  maxBatchResponseSize: notANumber('a number of bytes >= 0'),
  onCallEnd: notAFunction,
  callLogLevel: notA(
    'one of trace, debug, info, warn, error, fatal, silent',
    ['loud', '"loud" (string)'],
    [true, 'true (boolean)'],
  ),
  endStreamsOnClose: notABoolean,
}

const notAHook = notA(
  'a function or an array of functions',
  ['text', '"text" (string)'],
  [null, 'null'],
  [['text'], 'an array'],
)

/** Options of a rule. */
const RULE_OPTIONS: Record<string, Wrong[]> = {
  onRequest: notAHook,
  preValidation: notAHook,
  preHandler: notAHook,
  onSend: notAHook,
  onResponse: notAHook,
  bodyLimit: notANumber('a whole number of bytes >= 1'),
  timeout: [
    ...notANumber('a number of milliseconds from 1 to 2147483647'),
    ...notA('a number of milliseconds from 1 to 2147483647', [0, '0 (number)'], [2 ** 31, '2147483648 (number)']),
  ],
  rateLimit: notAFunction,
  serializer: notA(
    "'output', a JSON schema or a function",
    ['zod', '"zod" (string)'],
    [true, 'true (boolean)'],
    [null, 'null'],
  ),
}

const HANDLER_OPTIONS: Record<string, Wrong[]> = {
  router: notA(
    'a tRPC router',
    [undefined, 'undefined'],
    [null, 'null'],
    ['router', '"router" (string)'],
    [{}, 'an object'],
    [{ router }, 'an object'],
    [{ _def: null }, 'an object'],
    [t.procedure.query(() => 'no router'), 'a function'],
    [[router], 'an array'],
  ),
  createContext: notAFunction,
  onError: notAFunction,
  responseMeta: notAFunction,
  allowBatching: notABoolean,
  batching: notA(
    'an object with `enabled`, a boolean',
    [true, 'true (boolean)'],
    [null, 'null'],
    [{}, 'an object'],
    [{ enabled: 'yes' }, 'an object'],
  ),
  maxBatchSize: notANumber('a number >= 0'),
  allowMethodOverride: notABoolean,
  maxBodySize: notANumber('a number of bytes >= 0'),
  keepAlive: notA(
    'an object with `enabled`, a boolean, and `pingMs` and `pongWaitMs`, milliseconds',
    [true, 'true (boolean)'],
    [null, 'null'],
    [{}, 'an object'],
    [{ enabled: 1 }, 'an object'],
    [{ enabled: true, pingMs: '30s' }, 'an object'],
    [{ enabled: true, pongWaitMs: -1 }, 'an object'],
  ),
  dangerouslyDisablePong: notABoolean,
  experimental_encoder: notA(
    'an object with the functions `encode` and `decode`',
    ['json', '"json" (string)'],
    [{ encode: JSON.stringify }, 'an object'],
  ),
}

const rowsOf = (options: Record<string, Wrong[]>): { name: string; value: unknown; expected: string; got: string }[] =>
  Object.entries(options).flatMap(([name, wrong]) =>
    wrong.map(([value, expected, got]) => ({ name, value, expected, got })),
  )

const invalid = (name: string, expected: string, got: string): object => ({
  code: 'TRPC_FASTIFY_INVALID_OPTION',
  statusCode: 500,
  message: `Expected \`${name}\` to be ${expected}, got ${got}`,
})

const register = async (options: unknown): Promise<FastifyInstance> => {
  const app = Fastify()
  await app.register(websocket)
  await app.register(trpcPlugin, options as { trpcOptions: { router: typeof router } })
  return app
}

const create = (options: unknown): Promise<FastifyInstance> => createTrpcFastify(options as { router: typeof router })

describe('trpcPlugin rejects when it is registered', () => {
  it.each(rowsOf(PLUGIN_OPTIONS))('with $name: $got', async ({ name, value, expected, got }) => {
    const registered = register({ trpcOptions: { router }, [name]: value })
    await expect(registered).rejects.toThrow(TypeError)
    await expect(registered).rejects.toMatchObject(invalid(name, expected, got))
  })

  it.each(rowsOf(HANDLER_OPTIONS))('with trpcOptions.$name: $got', async ({ name, value, expected, got }) => {
    const registered = register({ prefix: '/trpc', trpcOptions: { router, [name]: value } })
    await expect(registered).rejects.toMatchObject(invalid(`trpcOptions.${name}`, expected, got))
  })

  it.each([
    [undefined, 'undefined'],
    [null, 'null'],
    [[], 'an array'],
    [() => router, 'a function'],
  ])('with trpcOptions: %s', async (trpcOptions, got) => {
    await expect(register({ trpcOptions })).rejects.toMatchObject(
      invalid('trpcOptions', 'an object with `router`', got),
    )
  })

  it('without options', async () => {
    await expect(register(undefined)).rejects.toMatchObject(
      invalid('trpcOptions', 'an object with `router`', 'undefined'),
    )
  })

  it('with an option that it does not know, and names those it knows', async () => {
    await expect(register({ prefx: '/trpc', trpcOptions: { router } })).rejects.toMatchObject({
      code: 'TRPC_FASTIFY_INVALID_OPTION',
      message: `Expected the options to be some of prefix, useWSS, engine, trpcOptions, procedures, batchConcurrency, \
maxBatchResponseSize, onCallEnd, callLogLevel, endStreamsOnClose, logLevel, logSerializers, got \`prefx\``,
    })
  })

  it.each(rowsOf(RULE_OPTIONS))('with a rule whose $name is $got', async ({ name, value, expected, got }) => {
    const registered = register({ trpcOptions: { router }, procedures: { hello: { [name]: value } } })
    await expect(registered).rejects.toMatchObject(invalid(`procedures['hello'].${name}`, expected, got))
  })

  it.each([
    [
      'a rule that is no object',
      { hello: 5 },
      "Expected `procedures['hello']` to be a rule, which is an object, got 5 (number)",
    ],
    [
      'a rule with an option that there is not',
      { '*': { limit: 5 } },
      /^Expected procedures\['\*'\] to be some of onRequest, .*, got `limit`$/,
    ],
    [
      'a path with a star within',
      { 'a*.b': {} },
      'Expected `procedures` to be rules by `path`, `path.*` or `*`, got "a*.b" (string)',
    ],
    ['a rule for no procedure', { helo: {} }, 'Expected `procedures` to be for procedures of the router, got `helo`'],
    [
      'a rule for no router',
      { 'hello.*': {} },
      'Expected `procedures` to be for procedures of the router, got `hello.*`',
    ],
    [
      'a schema that cannot be',
      { hello: { serializer: { type: 'nothing' } } },
      /^Expected `serializer` to be a JSON schema, got one that: /,
    ],
    [
      'an output without a schema',
      { hello: { serializer: 'output' } },
      'Expected `hello` to have an output that is a JSON schema too, got none',
    ],
  ])('with %s', async (_name, procedures, message) => {
    const registered = register({ trpcOptions: { router }, procedures })
    await expect(registered).rejects.toThrow(message)
    await expect(registered).rejects.toHaveProperty('code', 'TRPC_FASTIFY_INVALID_OPTION')
    await expect(create({ router, procedures })).rejects.toThrow(message)
  })

  it('with a serializer beside a data transformer', async () => {
    const transformed = initTRPC.create({ transformer: { serialize: JSON.stringify, deserialize: JSON.parse } })
    const withTransformer = transformed.router({ hello: transformed.procedure.query(() => 'world') })
    const registered = register({
      trpcOptions: { router: withTransformer },
      procedures: { hello: { serializer: JSON.stringify } },
    })
    await expect(registered).rejects.toThrow('Expected no `serializer` for a router with a data transformer, got one')
  })

  it('but not with a rule for what a lazy router may have', async () => {
    const lazyRouter = t.router({
      admin: lazy(() => Promise.resolve({ users: t.router({ list: t.procedure.query(() => []) }) })),
    })
    for (const pattern of ['admin.*', 'admin.list', 'admin.list.*', '*']) {
      await expect(
        register({ trpcOptions: { router: lazyRouter }, procedures: { [pattern]: {} } }),
      ).resolves.toBeDefined()
    }
    await expect(register({ trpcOptions: { router: lazyRouter }, procedures: { administration: {} } })).rejects.toThrow(
      'got `administration`',
    )
  })
})

describe('createTrpcFastify rejects', () => {
  it.each(rowsOf(PLUGIN_OPTIONS))('with $name: $got', async ({ name, value, expected, got }) => {
    await expect(create({ router, [name]: value })).rejects.toMatchObject(invalid(name, expected, got))
  })

  it.each(rowsOf(HANDLER_OPTIONS))('with $name: $got', async ({ name, value, expected, got }) => {
    await expect(create({ router, [name]: value })).rejects.toMatchObject(invalid(name, expected, got))
  })

  it.each([
    ['nothing', undefined, 'Expected `options` to be an object with `router`, got undefined'],
    ['a text', 'router', 'Expected `options` to be an object with `router`, got "router" (string)'],
    ['a misspelt key', { router, prefx: '/trpc' }, /^Expected the options to be some of prefix, .*, got `prefx`$/],
    ['trpcOptions, as the plugin has them', { trpcOptions: { router } }, /, got `trpcOptions`$/],
    ['a number for Fastify', { router, fastify: 5 }, 'to be an object of options of `Fastify()`, got 5 (number)'],
  ])('%s', async (_name, options, message) => {
    const created = create(options)
    await expect(created).rejects.toThrow(message)
    await expect(created).rejects.toHaveProperty('code', 'TRPC_FASTIFY_INVALID_OPTION')
  })
})

/** What the types of the official plugin allow, and what it serves. */
const RIGHT: { prefix?: string; trpcOptions?: object; [name: string]: unknown }[] = [
  {},
  { prefix: '' },
  { prefix: '/trpc' },
  { prefix: 'trpc' },
  { useWSS: false },
  { prefix: '/trpc', useWSS: true },
  { logLevel: 'error', logSerializers: { path: String } },
  { trpcOptions: { createContext: () => ({}), onError: () => {}, responseMeta: () => ({}) } },
  { trpcOptions: { createContext: undefined, onError: undefined, maxBatchSize: undefined } },
  { trpcOptions: { batching: { enabled: false }, allowBatching: true, maxBatchSize: 0 } },
  { trpcOptions: { maxBatchSize: Number.POSITIVE_INFINITY, maxBodySize: 0, allowMethodOverride: true } },
  { prefix: '/trpc', useWSS: true, trpcOptions: { keepAlive: { enabled: true, pingMs: 1000, pongWaitMs: 0 } } },
  { prefix: '/trpc', useWSS: true, trpcOptions: { keepAlive: { enabled: false }, dangerouslyDisablePong: true } },
  { prefix: '/trpc', useWSS: true, trpcOptions: { experimental_encoder: { encode: String, decode: JSON.parse } } },
]

it.each(RIGHT.map((options) => ({ shown: JSON.stringify(options), options })))(
  'what the official plugin accepts is accepted: $shown',
  async ({ options }) => {
    const all = { ...options, trpcOptions: { router, ...options.trpcOptions } }
    const official = Fastify()
    await official.register(websocket)
    await official.register(fastifyTRPCPlugin, all)
    const url = options.prefix ? '/trpc/hello' : '/hello'
    for (const app of [official, await register(all)]) {
      const answer = await app.inject(url)
      expect(answer.json()).toEqual({ result: { data: 'world' } })
      await app.close()
    }
  },
)
