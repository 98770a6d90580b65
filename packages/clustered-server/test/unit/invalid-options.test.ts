import { inspect } from 'node:util'
import { afterEach, describe, expect, it, vi } from 'vitest'
import { ClusteredServerError, createClusteredServer } from '../../src/index.ts'

const app = new URL('../fixtures/apps/hello.ts', import.meta.url)

afterEach(() => void vi.unstubAllEnvs())

/** What is said of an app and options that are wrong. */
async function failure(url: unknown, options?: unknown): Promise<ClusteredServerError> {
  const started = createClusteredServer(url as URL, options as object)
  return started.then(
    async (server) => {
      await server.close()
      throw new Error('It has started')
    },
    (error: ClusteredServerError) => error,
  )
}

const LONG = 'whole milliseconds from 1 to 2147483647'
const WORKERS = "an integer from 1 to 1024, or 'auto'"
const URL_OF = 'a file URL of the module, as by new URL(...)'

const WRONG: readonly [options: unknown, message: string][] = [
  [null, 'Expected `options` to be an object, got null'],
  [[], 'Expected `options` to be an object, got []'],
  ['x', "Expected `options` to be an object, got 'x'"],
  ...[0, -1, 1.5, Number.NaN, Infinity, 1025].map((workers): [unknown, string] => [
    { workers },
    `Expected \`workers\` to be ${WORKERS}, got ${workers}`,
  ]),
  [{ workers: '2' }, `Expected \`workers\` to be ${WORKERS}, got '2'`],
  [{ port: -1 }, 'Expected `port` to be an integer from 0 to 65535, or the absolute path of a UNIX socket, got -1'],
  [
    { port: 65_536 },
    'Expected `port` to be an integer from 0 to 65535, or the absolute path of a UNIX socket, got 65536',
  ],
  [{ port: 80.5 }, 'Expected `port` to be an integer from 0 to 65535, or the absolute path of a UNIX socket, got 80.5'],
  [{ port: '80' }, "Expected `port` to be an integer from 0 to 65535, or the absolute path of a UNIX socket, got '80'"],
  [{ host: 'localhost' }, "Expected `host` to be an IP address, such as '127.0.0.1' or '::', got 'localhost'"],
  [{ host: 1 }, "Expected `host` to be an IP address, such as '127.0.0.1' or '::', got 1"],
  [{ host: '' }, "Expected `host` to be an IP address, such as '127.0.0.1' or '::', got ''"],
  [{ spare: 1 }, 'Expected `spare` to be a boolean, got 1'],
  [{ signals: 'no' }, "Expected `signals` to be a boolean, got 'no'"],
  ...['startTimeout', 'drainTimeout', 'heartbeatTimeout'].flatMap((name) => [
    [{ [name]: 0 }, `Expected \`${name}\` to be ${LONG}, got 0`] as [unknown, string],
    [{ [name]: 0.5 }, `Expected \`${name}\` to be ${LONG}, got 0.5`] as [unknown, string],
    [{ [name]: Infinity }, `Expected \`${name}\` to be ${LONG}, got Infinity`] as [unknown, string],
    [{ [name]: 2 ** 31 }, `Expected \`${name}\` to be ${LONG}, got 2147483648`] as [unknown, string],
    [{ [name]: '1s' }, `Expected \`${name}\` to be ${LONG}, got '1s'`] as [unknown, string],
  ]),
  [{ startTimeout: false }, `Expected \`startTimeout\` to be ${LONG}, got false`],
  [{ heartbeatTimeout: true }, `Expected \`heartbeatTimeout\` to be ${LONG}, got true`],
  [{ env: 'A=1' }, "Expected `env` to be an object of strings, or a function, got 'A=1'"],
  [{ env: { A: 1 } }, 'Expected `env` to be an object of strings, or a function, got { A: 1 }'],
  [{ env: ['A'] }, "Expected `env` to be an object of strings, or a function, got [ 'A' ]"],
  [{ execArgv: '--inspect' }, "Expected `execArgv` to be an array of strings, got '--inspect'"],
  [{ execArgv: [1] }, 'Expected `execArgv` to be an array of strings, got [ 1 ]'],
  [{ recycle: true }, 'Expected `recycle` to be an object with some of requests, rss, heap, age, got true'],
  [{ recycle: [] }, 'Expected `recycle` to be an object with some of requests, rss, heap, age, got []'],
  [
    { recycle: { memory: 1 } },
    "Expected `recycle` to be an object with some of requests, rss, heap, age, got 'memory'",
  ],
  ...['requests', 'rss', 'heap', 'age'].flatMap((name) => [
    [{ recycle: { [name]: 0 } }, `Expected \`recycle.${name}\` to be an integer of 1 or more, got 0`] as [
      unknown,
      string,
    ],
    [{ recycle: { [name]: Infinity } }, `Expected \`recycle.${name}\` to be an integer of 1 or more, got Infinity`] as [
      unknown,
      string,
    ],
    [{ recycle: { [name]: '1GB' } }, `Expected \`recycle.${name}\` to be an integer of 1 or more, got '1GB'`] as [
      unknown,
      string,
    ],
  ]),
]

const PORT = 'an integer from 0 to 65535'
const ADDRESS = "an IP address, such as '127.0.0.1' or '::'"
const LOGGER = 'an object with the functions info, warn and error'

const PATH = "a path that begins with a slash, such as '/ready'"

const WRONG_OPERATIONS: readonly [options: unknown, message: string][] = [
  ...['', 'ready', 'http://127.0.0.1/ready', '/a b', '/a\r\nb', '/é', 1].map((readyPath): [unknown, string] => [
    { readyPath },
    `Expected \`readyPath\` to be ${PATH}, got ${inspect(readyPath)}`,
  ]),
  [{ blockedLoopReport: true }, "Expected `blockedLoopReport` to be 'stack' or 'profile', got true"],
  [{ reportDirectory: '' }, "Expected `reportDirectory` to be the path of a folder, got ''"],
  [{ shutdownDelay: -1 }, 'Expected `shutdownDelay` to be whole milliseconds from 0 to 2147483647, got -1'],
  [{ shutdownDelay: '5s' }, "Expected `shutdownDelay` to be whole milliseconds from 0 to 2147483647, got '5s'"],
  [{ admin: 9090 }, 'Expected `admin` to be an object, got 9090'],
  [{ admin: { address: '::' } }, "Expected `admin` to be an object of port, host and agentPort, got 'address'"],
  [{ admin: {} }, `Expected \`admin.port\` to be ${PORT}, got undefined`],
  [{ admin: { port: -1 } }, `Expected \`admin.port\` to be ${PORT}, got -1`],
  [{ admin: { port: 0, host: 'localhost' } }, `Expected \`admin.host\` to be ${ADDRESS}, got 'localhost'`],
  [{ admin: { port: 0, agentPort: '1' } }, `Expected \`admin.agentPort\` to be ${PORT}, got '1'`],
  [{ logger: 'pino' }, `Expected \`logger\` to be ${LOGGER}, got 'pino'`],
  [{ logger: { info: 1 } }, `Expected \`logger\` to be ${LOGGER}, got { info: 1 }`],
  [{ onShutdown: true }, 'Expected `onShutdown` to be a function, got true'],
]

describe('a wrong option is refused before anything is started', () => {
  it.each([...WRONG, ...WRONG_OPERATIONS])('%j', async (options, message) => {
    const error = await failure(app, options)
    expect(error).toBeInstanceOf(ClusteredServerError)
    expect(error).toMatchObject({ name: 'ClusteredServerError', code: 'CLUSTERED_SERVER_INVALID_OPTION', message })
  })

  it('an unknown one, with those that there are', async () => {
    const { code, message } = await failure(app, { worker: 2 })
    expect(code).toBe('CLUSTERED_SERVER_INVALID_OPTION')
    expect(message).toMatch(/^Expected `options` to be options among workers, port, host, .*, got 'worker'$/)
  })

  it.each([
    [undefined, 'undefined'],
    [1, '1'],
    ['./app.ts', "'./app.ts'"],
    ['/app.ts', "'/app.ts'"],
    ['https://example.com/app.ts', "'https://example.com/app.ts'"],
    [new URL('data:text/javascript,'), "'data:text/javascript,'"],
  ])('an app that is %s', async (url, got) => {
    expect(await failure(url)).toMatchObject({
      code: 'CLUSTERED_SERVER_INVALID_OPTION',
      message: `Expected \`app\` to be ${URL_OF}, got ${got}`,
    })
  })

  it.each([
    ['PORT', 'http', 'an integer from 0 to 65535, or the absolute path of a UNIX socket'],
    ['PORT', '70000', 'an integer from 0 to 65535, or the absolute path of a UNIX socket'],
    ['HOST', 'localhost', "an IP address, such as '127.0.0.1' or '::'"],
  ])('%s of the environment that is %s', async (name, value, expected) => {
    vi.stubEnv(name, value)
    expect(await failure(app)).toMatchObject({
      code: 'CLUSTERED_SERVER_INVALID_OPTION',
      message: `Expected \`${name}\` to be ${expected}, got '${value}'`,
    })
  })
})
