import { afterEach, describe, expect, it, vi } from 'vitest'
import { ClusteredServerError, createClusteredServer, errorCodes } from '../../src/index.ts'

const app = new URL('../fixtures/apps/hello.ts', import.meta.url)

afterEach(() => void vi.unstubAllEnvs())

/** The error for a wrong app or wrong options. */
async function failure(url: unknown, options?: unknown): Promise<ClusteredServerError> {
  const started = createClusteredServer(url as URL, options as object)
  return started.then(
    async (server) => {
      await server.close()
      throw new Error('The server has started')
    },
    (error: ClusteredServerError) => error,
  )
}

const MILLISECONDS = 'milliseconds, an integer from 1 to 2147483647'
const WORKERS = 'an integer from 1 to 1024 or "auto"'
const PORT = 'an integer from 0 to 65535'
const PORT_OR_PATH = `${PORT} or the absolute path of a UNIX socket`
const HOST = 'an IP address or a host name'
const PATH = 'a path that begins with a slash, such as "/ready"'
const LOGGER = 'an object with the methods info, warn and error'

/** A value as messages show it. */
const shown = (value: unknown): string => {
  if (typeof value === 'string') return JSON.stringify(value)
  if (Array.isArray(value)) return value.length === 0 ? 'an empty array' : 'an array'
  return typeof value === 'object' && value !== null ? 'an object' : String(value)
}

const WRONG: readonly (readonly [option: string, values: readonly unknown[], expected: string])[] = [
  ['workers', [0, -1, 1.5, Number.NaN, Infinity, 1025, '2', null], WORKERS],
  ['port', [-1, 65_536, 80.5, '80', 'app.sock'], PORT_OR_PATH],
  ['host', [1, '', null], HOST],
  ['standby', [1, 'no'], 'a boolean'],
  ['signals', ['no', 0], 'a boolean'],
  ['startTimeout', [0, 0.5, Infinity, 2 ** 31, '1s', false], MILLISECONDS],
  ['drainTimeout', [0, 0.5, Infinity, 2 ** 31, '1s'], MILLISECONDS],
  ['heartbeatTimeout', [0, 0.5, Infinity, 2 ** 31, '1s', true], `${MILLISECONDS} or false`],
  ['shutdownDelay', [-1, '5s'], 'milliseconds, an integer from 0 to 2147483647'],
  ['args', ['--verbose', {}], 'an array, each item a string'],
  ['execArgv', ['--inspect', {}], 'an array, each item a string'],
  ['readyPath', ['', 'ready', 'http://127.0.0.1/ready', '/a b', '/a\r\nb', '/é', 1], PATH],
  ['blockedLoopReport', [true, 'file'], '"stack" or "profile"'],
  ['reportDirectory', ['', 1], 'the path of a directory'],
  ['recycle', [true, [], 1], 'an object'],
  ['admin', [9090, []], 'an object'],
  ['logger', ['pino', { info: 1 }], LOGGER],
  ['onShutdown', [true, {}], 'a function'],
]

const WRONG_INSIDE: readonly (readonly [options: unknown, message: string])[] = [
  [null, 'Invalid options: expected an object, got null.'],
  [[], 'Invalid options: expected an object, got an empty array.'],
  ['x', 'Invalid options: expected an object, got "x".'],
  [{ env: { A: 1 } }, 'Invalid option "env.A": expected a string, got 1.'],
  [{ env: 'A=1' }, 'Invalid option "env": expected a function or an object, each value a string, got "A=1".'],
  [{ execArgv: [1] }, 'Invalid option "execArgv[0]": expected a string, got 1.'],
  [{ recycle: { memory: 1 } }, 'Invalid option "recycle.memory": unknown. Known here: requests, rss, heap, age.'],
  [{ recycle: { requests: 0 } }, 'Invalid option "recycle.requests": expected an integer of at least 1, got 0.'],
  [{ recycle: { rss: '1GB' } }, 'Invalid option "recycle.rss": expected bytes, an integer of at least 1, got "1GB".'],
  [
    { recycle: { heap: Infinity } },
    'Invalid option "recycle.heap": expected bytes, an integer of at least 1, got Infinity.',
  ],
  [{ recycle: { age: 0 } }, 'Invalid option "recycle.age": expected milliseconds, an integer of at least 1, got 0.'],
  [{ admin: {} }, `Invalid option "admin.port": expected ${PORT}, got undefined.`],
  [{ admin: { port: -1 } }, `Invalid option "admin.port": expected ${PORT}, got -1.`],
  [{ admin: { port: 0, host: 1 } }, `Invalid option "admin.host": expected ${HOST}, got 1.`],
  [{ admin: { port: 0, agentPort: '1' } }, `Invalid option "admin.agentPort": expected ${PORT}, got "1".`],
  [
    { admin: { port: 0, address: '::' } },
    'Invalid option "admin.address": unknown. Known here: port, host, agentPort.',
  ],
  [{ worker: 2 }, 'Invalid option "worker": unknown. Did you mean "workers"?'],
  [{ spare: false }, 'Invalid option "spare": renamed to "standby".'],
  [{ stuckReport: 'stack' }, 'Invalid option "stuckReport": renamed to "blockedLoopReport".'],
  [
    { onWorkerStart: () => {} },
    'Invalid option "onWorkerStart": removed. Listen to the event "workerStart" of the server.',
  ],
  [
    { onReady: () => {} },
    'Invalid option "onReady": removed. Await createClusteredServer(), or listen to the event "ready" of the server.',
  ],
]

describe('an invalid option rejects before anything starts', () => {
  const all = [
    ...WRONG.flatMap(([option, values, expected]) =>
      values.map((value) => ({
        options: { [option]: value },
        message: `Invalid option "${option}": expected ${expected}, got ${shown(value)}.`,
      })),
    ),
    ...WRONG_INSIDE.map(([options, message]) => ({ options, message })),
  ]

  it.each(all)('$message', async ({ options, message }) => {
    const error = await failure(app, options)
    expect(error).toBeInstanceOf(errorCodes.CLUSTERED_SERVER_INVALID_OPTION)
    expect(error).toMatchObject({ name: 'ClusteredServerError', code: 'CLUSTERED_SERVER_INVALID_OPTION', message })
  })

  it.each([
    [undefined, 'undefined'],
    [1, '1'],
    ['./app.ts', '"./app.ts"'],
    ['file://host/app.ts', '"file://host/app.ts"'],
    ['https://example.com/app.ts', '"https://example.com/app.ts"'],
    [new URL('data:text/javascript,'), '"data:text/javascript,"'],
  ])('rejects the app %s', async (url, got) => {
    expect(await failure(url)).toMatchObject({
      code: 'CLUSTERED_SERVER_INVALID_OPTION',
      message: `Invalid option "app": expected an absolute path or a file URL, such as new URL("./app.js", import.meta.url), got ${got}.`,
    })
  })
})

it.each([1, 2])('rejects a host name that does not resolve, with %i workers', async (workers) => {
  const error = await failure(app, { workers, host: 'name.invalid', port: 0, signals: false })
  expect(error).toBeInstanceOf(errorCodes.CLUSTERED_SERVER_CANNOT_LISTEN)
  expect(error.message).toMatch(/^Cannot listen on name\.invalid, port 0: getaddrinfo /)
})

it('does not read PORT and HOST of the environment', async () => {
  vi.stubEnv('PORT', 'http')
  vi.stubEnv('HOST', 'name.invalid')
  const server = await createClusteredServer(app, { workers: 1, port: 0, signals: false })
  expect(server.port).toBeGreaterThan(0)
  await server.close()
})
