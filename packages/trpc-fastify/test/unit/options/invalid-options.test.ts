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
  ['true', '"true"'],
  [1, '1'],
  [null, 'null'],
  [{}, 'an object'],
  [Symbol('true'), 'a symbol'],
)
const notAFunction = notA(
  'a function',
  ['text', '"text"'],
  [null, 'null'],
  [{}, 'an object'],
  [false, 'false'],
  [[() => 1], 'an array'],
)
const notANumber = (expected: string): Wrong[] =>
  notA(expected, ['5', '"5"'], [null, 'null'], [-1, '-1'], [Number.NaN, 'NaN'], [5n, '5n'], [[5], 'an array'])

const PLUGIN_OPTIONS: Record<string, Wrong[]> = {
  prefix: notA('a string', [5, '5'], [null, 'null'], [['/trpc'], 'an array'], [/trpc/, 'an instance of RegExp']),
  useWSS: notABoolean,
  fastPath: notA('true or false', ['fast', '"fast"'], ['', '""'], [1, '1'], [null, 'null'], [[true], 'an array']),
  procedures: notA('an object, each value an object', ['hello', '"hello"'], [null, 'null'], [[], 'an empty array']),
  batchConcurrency: [
    ...notANumber('an integer of at least 1 or Infinity'),
    ...notA('an integer of at least 1 or Infinity', [0, '0'], [1.5, '1.5']),
  ],
  maxBatchResponseSize: notANumber('bytes, an integer of at least 0 or Infinity'),
  observers: notA(
    'an array, each item an object with any of callEnded, requestStarted, callStarted, runCall',
    [() => {}, 'a function'],
    [null, 'null'],
    [{ callEnded: () => {} }, 'an object'],
  ),
  callLogLevel: notA(
    '"trace" or "debug" or "info" or "warn" or "error" or "fatal" or "silent"',
    ['loud', '"loud"'],
    [true, 'true'],
  ),
  endStreamsOnClose: notABoolean,
}

const notAHook = notA(
  'a function or an array of functions',
  ['text', '"text"'],
  [null, 'null'],
  [['text'], 'an array'],
  [undefined, 'undefined'],
)

/** Options of a rule. */
const RULE_OPTIONS: Record<string, Wrong[]> = {
  onRequest: notAHook,
  preValidation: notAHook,
  preHandler: notAHook,
  onSend: notAHook,
  onResponse: notAHook,
  bodyLimit: notANumber('bytes, an integer of at least 1'),
  timeout: [
    ...notANumber('milliseconds, an integer from 1 to 2147483647'),
    ...notA('milliseconds, an integer from 1 to 2147483647', [0, '0'], [2 ** 31, '2147483648']),
  ],
  rateLimit: notAFunction,
  serializer: notA('"output" or a JSON schema or a function', ['zod', '"zod"'], [true, 'true'], [null, 'null']),
}

const HANDLER_OPTIONS: Record<string, Wrong[]> = {
  router: notA(
    'a tRPC router',
    [undefined, 'undefined'],
    [null, 'null'],
    ['router', '"router"'],
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
  batching: notA('an object', [true, 'true'], [null, 'null']),
  'batching.enabled': notA('a boolean', [undefined, 'undefined'], ['yes', '"yes"']),
  maxBatchSize: notANumber('a number of at least 0 or Infinity'),
  allowMethodOverride: notABoolean,
  maxBodySize: notANumber('a number of at least 0 or Infinity'),
  keepAlive: notA('an object', [true, 'true'], [null, 'null']),
  'keepAlive.enabled': notA('a boolean', [undefined, 'undefined'], [1, '1']),
  'keepAlive.pingMs': notA('a number of at least 0 or Infinity', ['30s', '"30s"']),
  'keepAlive.pongWaitMs': notA('a number of at least 0 or Infinity', [-1, '-1']),
  dangerouslyDisablePong: notABoolean,
  experimental_encoder: notA(
    'an object with the functions encode and decode',
    ['json', '"json"'],
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
  message: `Invalid option "${name}": expected ${expected}, got ${got}.`,
})

/** Options with a value at a path such as `keepAlive.pingMs`. */
const withOption = (name: string, value: unknown): object => {
  const [outer, inner] = name.split('.')
  return {
    [outer!]: inner === undefined ? value : { ...(inner === 'enabled' ? {} : { enabled: true }), [inner]: value },
  }
}

const register = async (options: unknown): Promise<FastifyInstance> => {
  const app = Fastify()
  await app.register(websocket)
  await app.register(trpcPlugin, options as { trpcOptions: { router: typeof router } })
  return app
}

const create = (options: unknown): Promise<FastifyInstance> => createTrpcFastify(options as { router: typeof router })

describe('trpcPlugin rejects when it is registered', () => {
  it.each(rowsOf(PLUGIN_OPTIONS))('with $name: $got', async ({ name, value, expected, got }) => {
    const registered = register({ trpcOptions: { router }, ...withOption(name, value) })
    await expect(registered).rejects.toThrow(TypeError)
    await expect(registered).rejects.toMatchObject(invalid(name, expected, got))
  })

  it.each(rowsOf(HANDLER_OPTIONS))('with trpcOptions.$name: $got', async ({ name, value, expected, got }) => {
    const registered = register({ prefix: '/trpc', trpcOptions: { router, ...withOption(name, value) } })
    await expect(registered).rejects.toMatchObject(invalid(`trpcOptions.${name}`, expected, got))
  })

  it.each([
    [undefined, 'undefined'],
    [null, 'null'],
    [[], 'an empty array'],
    [() => router, 'a function'],
  ])('with trpcOptions: %s', async (trpcOptions, got) => {
    await expect(register({ trpcOptions })).rejects.toMatchObject(invalid('trpcOptions', 'an object', got))
  })

  it('without options', async () => {
    await expect(register(undefined)).rejects.toMatchObject(invalid('trpcOptions', 'an object', 'undefined'))
  })

  it.each([
    [{ prefx: '/trpc' }, 'Invalid option "prefx": unknown. Did you mean "prefix"?'],
    [{ fastPath: 'official' }, 'Invalid option "fastPath": the value "official" is false now.'],
    [{ fastPath: 'uncompiled' }, 'Invalid option "fastPath": the value "uncompiled" is true now.'],
    [{ engine: 'official' }, 'Invalid option "engine": renamed to "fastPath", which is true or false.'],
    [
      { onCallEnd: () => {} },
      'Invalid option "onCallEnd": renamed to "observers", an array of objects with the function callEnded.',
    ],
    [
      { observers: [{}] },
      'Invalid option "observers[0]": expected an object with any of callEnded, requestStarted, callStarted, runCall, got an object.',
    ],
    [
      { observers: [5] },
      'Invalid option "observers[0]": expected an object with any of callEnded, requestStarted, callStarted, runCall, got 5.',
    ],
  ])('with %o', async (options, message) => {
    const code = 'TRPC_FASTIFY_INVALID_OPTION'
    await expect(register({ ...options, trpcOptions: { router } })).rejects.toMatchObject({ code, message })
    await expect(create({ ...options, router })).rejects.toMatchObject({ code, message })
  })

  it.each(rowsOf(RULE_OPTIONS))('with a rule whose $name is $got', async ({ name, value, expected, got }) => {
    const registered = register({ trpcOptions: { router }, procedures: { hello: { [name]: value } } })
    await expect(registered).rejects.toMatchObject(invalid(`procedures.hello.${name}`, expected, got))
  })

  it.each([
    ['a rule that is no object', { hello: 5 }, 'Invalid option "procedures.hello": expected an object, got 5.'],
    [
      'a rule with an unknown option',
      { '*': { timeOut: 5 } },
      'Invalid option "procedures["*"].timeOut": unknown. Did you mean "timeout"?',
    ],
    [
      'a hook of a plugin that is not registered',
      { 'admin.*': { onRequest: undefined } },
      'Invalid option "procedures["admin.*"].onRequest": expected a function or an array of functions, got undefined.',
    ],
    [
      'a path with a star within',
      { 'a*.b': {} },
      'Invalid option "procedures": expected rules by "path", "path.*" or "*", got "a*.b".',
    ],
    [
      'a rule for no procedure',
      { helo: {} },
      'Invalid option "procedures": expected paths of procedures of the router, got "helo".',
    ],
    [
      'a rule for no router',
      { 'hello.*': {} },
      'Invalid option "procedures": expected paths of procedures of the router, got "hello.*".',
    ],
    [
      'an invalid schema',
      { hello: { serializer: { type: 'nothing' } } },
      /^Invalid option "procedures\.hello\.serializer": expected a valid JSON schema, got one that fails: /,
    ],
    [
      'an output without a schema',
      { hello: { serializer: 'output' } },
      'Invalid option "procedures.hello.serializer": expected a procedure whose output schema has a JSON schema, got one without.',
    ],
  ])('with %s', async (_name, procedures, message) => {
    const registered = register({ trpcOptions: { router }, procedures })
    await expect(registered).rejects.toThrow(message)
    await expect(registered).rejects.toHaveProperty('code', 'TRPC_FASTIFY_INVALID_OPTION')
    await expect(create({ router, procedures })).rejects.toThrow(message)
  })

  it('with a serializer and a data transformer', async () => {
    const transformed = initTRPC.create({ transformer: { serialize: JSON.stringify, deserialize: JSON.parse } })
    const withTransformer = transformed.router({ hello: transformed.procedure.query(() => 'world') })
    const registered = register({
      trpcOptions: { router: withTransformer },
      procedures: { hello: { serializer: JSON.stringify } },
    })
    await expect(registered).rejects.toThrow(
      'Invalid option "procedures.hello.serializer": not supported for a router with a data transformer.',
    )
  })

  it('but accepts a rule for procedures of a lazy router', async () => {
    const lazyRouter = t.router({
      admin: lazy(() => Promise.resolve({ users: t.router({ list: t.procedure.query(() => []) }) })),
    })
    for (const pattern of ['admin.*', 'admin.list', 'admin.list.*', '*']) {
      await expect(
        register({ trpcOptions: { router: lazyRouter }, procedures: { [pattern]: {} } }),
      ).resolves.toBeDefined()
    }
    await expect(register({ trpcOptions: { router: lazyRouter }, procedures: { administration: {} } })).rejects.toThrow(
      'got "administration"',
    )
  })
})

describe('createTrpcFastify rejects', () => {
  it.each(rowsOf(PLUGIN_OPTIONS))('with $name: $got', async ({ name, value, expected, got }) => {
    await expect(create({ router, ...withOption(name, value) })).rejects.toMatchObject(invalid(name, expected, got))
  })

  it.each(rowsOf(HANDLER_OPTIONS))('with $name: $got', async ({ name, value, expected, got }) => {
    await expect(create({ router, ...withOption(name, value) })).rejects.toMatchObject(invalid(name, expected, got))
  })

  it.each([
    ['no options', undefined, 'Invalid options: expected an object, got undefined.'],
    ['a text', 'router', 'Invalid options: expected an object, got "router".'],
    ['no router', {}, 'Invalid option "router": expected a tRPC router, got undefined.'],
    [
      'trpcOptions, which only the plugin has',
      { router, trpcOptions: { router } },
      'Invalid option "trpcOptions": only for trpcPlugin. Here its options stand beside the others.',
    ],
    [
      'a number for Fastify',
      { router, fastify: 5 },
      'Invalid option "fastify": expected an object of options of Fastify(), got 5.',
    ],
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
  { trpcOptions: { maxBatchSize: 1.5 } },
  { trpcOptions: { maxBatchSize: Number.POSITIVE_INFINITY, maxBodySize: 0, allowMethodOverride: true } },
  { prefix: '/trpc', useWSS: true, trpcOptions: { keepAlive: { enabled: true, pingMs: 1000, pongWaitMs: 0 } } },
  { prefix: '/trpc', trpcOptions: { batching: { enabled: true, later: 1 }, keepAlive: { enabled: true, later: 1 } } },
  { prefix: '/trpc', useWSS: true, trpcOptions: { keepAlive: { enabled: false }, dangerouslyDisablePong: true } },
  { prefix: '/trpc', useWSS: true, trpcOptions: { experimental_encoder: { encode: String, decode: JSON.parse } } },
]

it.each(RIGHT.map((options) => ({ shown: JSON.stringify(options), options })))(
  'accepts the options that the official plugin accepts: $shown',
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
