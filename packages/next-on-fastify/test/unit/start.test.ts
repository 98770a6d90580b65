import { mkdirSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import Fastify, { type FastifyInstance } from 'fastify'
import { createNextOnFastify, errorCodes, nextPlugin, type NextPluginOptions } from 'next-on-fastify'
import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest'
import { standInApp } from '../helpers/stand-in.ts'

const counted = globalThis as { closedNext?: number }

beforeEach(() => void (counted.closedNext = 0))
afterEach(() => vi.unstubAllEnvs())

describe('options', () => {
  it.each([
    ['dir', '/none', 'Invalid option "dir": expected an existing folder, got "/none".'],
    ['dir', 7, 'Invalid option "dir": expected an existing folder, got 7.'],
    ['dir', {}, 'got an object.'],
    ['dir', () => {}, 'got a function.'],
    ['dev', 'yes', 'Invalid option "dev": expected a boolean, got "yes".'],
    ['hostname', '', 'Invalid option "hostname": expected a host name without protocol, port and path, got "".'],
    ['hostname', 7, 'got 7.'],
    ['hostname', 'a b', 'got "a b".'],
    ['hostname', 'http://example.com', 'got "http://example.com".'],
    ['hostname', 'example.com:80', 'got "example.com:80".'],
    ['hostname', 'example.com/shop', 'got "example.com/shop".'],
    ['hostname', '[::1]:80', 'got "[::1]:80".'],
    ['hostname', 'a%20b', 'got "a%20b".'],
    ['port', 70_000, 'Invalid option "port": expected an integer from 0 to 65535, got 70000.'],
    ['prefix', 'shop', 'expected a path with a leading slash, without a trailing slash and parameters, got "shop".'],
    ['prefix', '/shop/', 'got "/shop/".'],
    ['prefix', '/:id', 'got "/:id".'],
    ['logSerializers', { req: 1 }, 'Invalid option "logSerializers.req": expected a function, got 1.'],
    ['logLevel', 'loud', 'Invalid option "logLevel": expected "trace" or "debug" or "info"'],
    ['upgrades', null, 'Invalid option "upgrades": expected a boolean, got null.'],
    ['requestIdHeader', 'X Id', 'Invalid option "requestIdHeader": expected the name of a header in lower case'],
    ['requestIdHeader', [], 'got an empty array.'],
    ['requestIdHeader', 'host', 'expected the name of a header in lower case that has no meaning in HTTP'],
    ['requestIdHeader', 'content-length', 'expected the name of a header in lower case that has no meaning in HTTP'],
    ['requestIdHeader', 'cookie', 'expected the name of a header in lower case that has no meaning in HTTP'],
    ['responseCache', 'on', 'Invalid option "responseCache": expected a boolean or an object, got "on".'],
    [
      'responseCache',
      { maxEntries: 0 },
      'Invalid option "responseCache.maxEntries": expected an integer of at least 1, got 0.',
    ],
    ['responseCache', { maxBytes: 1.5 }, 'Invalid option "responseCache.maxBytes": expected bytes'],
    ['responseCache', { proxied: 'all' }, 'expected "never" or "unmatched" or "always", got "all".'],
    [
      'responseCache',
      { proxied: 'after-proxy' },
      'Invalid option "responseCache.proxied": the value "after-proxy" is "always" now.',
    ],
    ['bypassRouter', 'api', 'Invalid option "bypassRouter": the value "api" is "handlers" now.'],
    ['sharedCache', 'process', 'Invalid option "sharedCache": the value "process" is false now.'],
    ['responseCache', { brotli: 'yes' }, 'Invalid option "responseCache.brotli": expected a boolean, got "yes".'],
    ['responseCache', { maxByte: 1 }, 'Invalid option "responseCache.maxByte": unknown. Did you mean "maxBytes"?'],
    ['compression', 'br', 'Invalid option "compression": expected a boolean or an object, got "br".'],
    [
      'compression',
      { encodings: ['gzip'] },
      'Invalid option "compression.encodings[0]": expected "br" or "zstd", got "gzip".',
    ],
    [
      'compression',
      { brotliQuality: 12 },
      'Invalid option "compression.brotliQuality": expected an integer from 0 to 11, got 12.',
    ],
    [
      'compression',
      { zstdLevel: 0 },
      'Invalid option "compression.zstdLevel": expected an integer from 1 to 19, got 0.',
    ],
    [
      'compression',
      { windowBits: 24 },
      'Invalid option "compression.windowBits": expected an integer from 10 to 23, got 24.',
    ],
    ['compression', { quality: 4 }, 'Invalid option "compression.quality": unknown.'],
    ['observers', {}, 'Invalid option "observers": expected an array'],
    [
      'observers',
      [null],
      'Invalid option "observers[0]": expected an object with any of nextOpened, nextClosed, requestServed, got null.',
    ],
    ['observers', [{}], 'Invalid option "observers[0]"'],
    ['observers', [{ requestServed: 'log' }], 'Invalid option "observers[0].requestServed": expected a function'],
    [
      'observers',
      [{ requestServed: () => {}, nextAnswered: () => {} }],
      'Invalid option "observers[0].nextAnswered": renamed to "requestServed".',
    ],
    [
      'observers',
      [{ requestServed: () => {}, nextClose: () => {} }],
      'Invalid option "observers[0].nextClose": unknown. Did you mean "nextClosed"?',
    ],
    ['sharedCache', 'memory', 'Invalid option "sharedCache": expected false or "machine" or an object, got "memory".'],
    ['sharedCache', { folder: 7 }, 'Invalid option "sharedCache.folder": expected the path of a folder, got 7.'],
    ['sharedCache', { file: 'a' }, 'Invalid option "sharedCache.file": unknown.'],
    ['sharedCache', { redis: 'redis://cache' }, 'Invalid option "sharedCache.redis": expected a function'],
    ['sharedCache', { redis: async () => {}, prefix: 7 }, 'Invalid option "sharedCache.prefix": expected a string'],
    [
      'sharedCache',
      { redis: async () => {}, timeout: 0 },
      'Invalid option "sharedCache.timeout": expected milliseconds',
    ],
    [
      'sharedCache',
      { redis: async () => {}, folder: 'a' },
      'Invalid option "sharedCache.folder": expected no folder beside "redis", got "a".',
    ],
    [
      'sharedCache',
      { redis: async () => {}, maxBytes: 1 },
      'Invalid option "sharedCache.maxBytes": expected no limit of files beside "redis", got 1.',
    ],
    ['sharedCache', { maxBytes: 0 }, 'Invalid option "sharedCache.maxBytes": expected bytes'],
    ['sharedCache', { timeout: 1 }, 'Invalid option "sharedCache.redis": expected a function, got undefined.'],
    ['bypassRouter', true, 'Invalid option "bypassRouter": expected false or "handlers" or "all", got true.'],
    ['bypassRouter', 'pages', 'Invalid option "bypassRouter": expected false or "handlers" or "all", got "pages".'],
    ['cdn', {}, 'Invalid option "cdn": expected an object with "tagHeader" or "onRevalidate", got an object.'],
    ['cdn', { tagHeader: 'tags' }, 'expected "cache-tag" or "surrogate-key" or "xkey", got "tags".'],
    ['cdn', { onRevalidate: 'purge' }, 'Invalid option "cdn.onRevalidate": expected a function, got "purge".'],
    ['cdn', { tagHeader: 'xkey', timeout: 0 }, 'Invalid option "cdn.timeout": expected milliseconds'],
    ['conf', {}, 'Invalid option "conf": unknown.'],
    ['memory', true, 'Invalid option "memory": renamed to "responseCache".'],
    ['cache', 'machine', 'Invalid option "cache": renamed to "sharedCache".'],
    ['direct', 'all', 'Invalid option "direct": renamed to "bypassRouter".'],
    ['responseCache', { bytes: 1 }, 'Invalid option "responseCache.bytes": renamed to "maxBytes".'],
    ['responseCache', { entries: 1 }, 'Invalid option "responseCache.entries": renamed to "maxEntries".'],
    ['responseCache', { entryBytes: 1 }, 'Invalid option "responseCache.entryBytes": renamed to "maxEntryBytes".'],
    ['responseCache', { proxyMemory: true }, 'Invalid option "responseCache.proxyMemory": renamed to "proxied".'],
    ['responseCache', { explain: true }, 'Invalid option "responseCache.explain": renamed to "cacheStatus".'],
  ])('refuses %s: %j', async (name, value, message) => {
    const error = { code: 'NEXT_ON_FASTIFY_INVALID_OPTION', message: expect.stringContaining(message) as string }
    const options = { dir: standInApp(), [name]: value } as NextPluginOptions
    await expect(createNextOnFastify(options)).rejects.toMatchObject(error)
    const registered = Fastify().register(nextPlugin, options)
    await expect(registered).rejects.toMatchObject(error)
  })

  it('that are no object are refused', async () => {
    await expect(createNextOnFastify(null as never)).rejects.toThrow('Invalid options: expected an object, got null.')
  })

  it.each([
    [60_000, {}],
    [5000, { pluginTimeout: 5000 }],
  ])('give Next %i ms to start with %j for Fastify', async (expected, fastify) => {
    const app = await createNextOnFastify({ dir: standInApp(), fastify })
    expect(app.initialConfig.pluginTimeout).toBe(expected)
  })

  it('go to Next as they are', async () => {
    const app = await createNextOnFastify({ dir: standInApp(), dev: false, hostname: 'example.com', port: 4000 })
    expect((await app.inject('/')).json()).toMatchObject({ next: { dev: false, hostname: 'example.com', port: 4000 } })
  })

  it.each(['localhost', '127.0.0.1', '::', '[::1]', 'bücher.example', 'my_service'])(
    'have the host name %s',
    async (hostname) => {
      const app = await createNextOnFastify({ dir: standInApp(), dev: false, hostname })
      expect((await app.inject('/')).json()).toMatchObject({ next: { hostname } })
    },
  )

  it.each([
    ['production', false],
    ['development', true],
    ['test', true],
  ])('leave `dev` to NODE_ENV: with %s it is %s', async (environment, dev) => {
    vi.stubEnv('NODE_ENV', environment)
    const app = await createNextOnFastify({ dir: standInApp() })
    expect((await app.inject('/')).json()).toMatchObject({ next: { dev } })
  })
})

describe('an app', () => {
  it('rejects with NEXT_MISSING if `next` cannot be loaded', async () => {
    const dir = standInApp({ exports: {} })
    const error = { code: 'NEXT_ON_FASTIFY_NEXT_MISSING', message: expect.stringContaining(dir) as string }
    const cause = { code: 'ERR_PACKAGE_PATH_NOT_EXPORTED' }
    await expect(createNextOnFastify({ dir })).rejects.toMatchObject({ ...error, cause })
  })

  it.each(['14.2.35', '15.2.9', '15.5.28', '17.0.0', '17.0.0-canary.1'])('with Next %s is refused', async (version) => {
    await expect(createNextOnFastify({ dir: standInApp({ version }) })).rejects.toMatchObject({
      code: 'NEXT_ON_FASTIFY_NEXT_VERSION',
      message: expect.stringContaining(`>=15.5.29 <17, got ${version}`) as string,
    })
  })

  it.each(['15.5.29', '15.6.0', '16.0.0', '16.5.0-canary.3'])('with Next %s is served', async (version) => {
    const app = await createNextOnFastify({ dir: standInApp({ version }) })
    expect((await app.inject('/')).statusCode).toBe(200)
  })

  it('rejects with NO_BUILD in production, and closes Next', async () => {
    const dir = standInApp({ name: 'without-build' })
    await expect(createNextOnFastify({ dir, dev: false })).rejects.toMatchObject({
      code: 'NEXT_ON_FASTIFY_NO_BUILD',
      message: expect.stringContaining(dir) as string,
      cause: { message: "Could not find a production build in '.next'" },
    })
    expect(counted.closedNext).toBe(1)
  })

  it('that does not start for another reason says which', async () => {
    const dir = standInApp({ name: 'broken' })
    await expect(createNextOnFastify({ dir })).rejects.toMatchObject({
      code: 'NEXT_ON_FASTIFY_NOT_PREPARED',
      message: `The Next app in ${dir} failed to start: No pages`,
      cause: { message: 'No pages' },
    })
  })

  it('is ready only after `register` of instrumentation has ended', async () => {
    const registered = globalThis as { registeredNext?: number }
    registered.registeredNext = 0
    await createNextOnFastify({ dir: standInApp() })
    expect(registered.registeredNext).toBe(1)
  })

  it('does not start if `register` of instrumentation fails', async () => {
    const dir = standInApp({ name: 'register-fails' })
    await expect(createNextOnFastify({ dir })).rejects.toMatchObject({
      code: 'NEXT_ON_FASTIFY_NOT_PREPARED',
      message: `The Next app in ${dir} failed to start: No database`,
    })
  })

  it('rejects with BASE_PATH if it was built for another path', async () => {
    const dir = standInApp({ config: { basePath: '/store' } })
    await expect(createNextOnFastify({ dir, dev: false, prefix: '/shop' })).rejects.toMatchObject({
      code: 'NEXT_ON_FASTIFY_BASE_PATH',
      message: `The option "prefix" is "/shop", but ${dir} was built with the basePath "/store": use the same path for both, and build again.`,
    })
  })

  it('gets its configuration with `output: standalone`, which writes no configuration file', async () => {
    const config = { output: 'standalone', basePath: '/shop' }
    const told = async (dir: string, dev = false): Promise<unknown> => {
      const app = await createNextOnFastify({ dir, dev })
      return (await app.inject('/')).json<{ next: { config?: string } }>().next.config
    }
    const dir = standInApp({ config })
    expect(await told(dir)).toBe(JSON.stringify(config))
    expect(process.env['__NEXT_PRIVATE_STANDALONE_CONFIG']).toBeUndefined()
    expect(await told(dir, true)).toBeUndefined()
    // Whoever runs it has told Next already.
    vi.stubEnv('__NEXT_PRIVATE_STANDALONE_CONFIG', '{}')
    expect(await told(dir)).toBe('{}')
    vi.unstubAllEnvs()
    // The folder of the sources, which was built for it.
    writeFileSync(join(dir, 'next.config.mjs'), '')
    expect(await told(dir)).toBeUndefined()
  })

  it('gets no configuration with another `output`', async () => {
    const app = await createNextOnFastify({ dir: standInApp({ config: { output: 'export' } }), dev: false })
    expect((await app.inject('/')).json<{ next: object }>().next).not.toHaveProperty('config')
  })

  it('whose build is of another kind is taken to be built for `prefix`', async () => {
    const app = await createNextOnFastify({ dir: standInApp({ config: [] }), dev: false, prefix: '/shop' })
    expect((await app.inject('/shop')).statusCode).toBe(200)
  })

  it('whose build is elsewhere is taken to be built for `prefix`', async () => {
    const app = await createNextOnFastify({ dir: standInApp(), dev: false, prefix: '/shop' })
    expect((await app.inject('/shop')).statusCode).toBe(200)
  })

  it('is closed with the app', async () => {
    const app = await createNextOnFastify({ dir: standInApp() })
    await app.close()
    expect(counted.closedNext).toBe(1)
  })
})

describe('an app whose compression cannot be replaced', () => {
  const start = async (module: string): Promise<{ lines: string[]; dir: string }> => {
    const dir = standInApp()
    const folder = join(dir, 'node_modules/next/dist/server')
    mkdirSync(folder, { recursive: true })
    writeFileSync(join(folder, 'config.js'), module)
    const lines: string[] = []
    const logger = { level: 'warn', stream: { write: (line: string) => void lines.push(line) } }
    await createNextOnFastify({ dir, dev: false, compression: true, fastify: { logger } })
    return { lines, dir }
  }

  it('does not start if its own configuration turns compression off', async () => {
    await expect(start('exports.default = async () => ({ compress: false })')).rejects.toMatchObject({
      code: 'NEXT_ON_FASTIFY_INVALID_OPTION',
      message:
        'Invalid option "compression": expected false for an app whose `next.config` has `compress: false`, got true.',
    })
    expect(counted.closedNext).toBe(1)
  })

  it.each([
    ['lets Next compress', "exports.default = async () => ({ compress: true, distDir: '.next' })"],
    ['is unreadable', ''],
  ])('has one warning if its configuration %s', async (_name, module) => {
    const { lines, dir } = await start(module)
    expect(lines.map((line) => JSON.parse(line) as object)).toEqual([
      expect.objectContaining({
        level: 40,
        dir,
        msg: 'compression disabled for this Next app: its Next compresses in another way, or was loaded before',
      }),
    ])
  })
})

describe('options of the factory', () => {
  it.each([
    ['gracefulStop', 'yes', 'Invalid option "gracefulStop": expected a boolean or an object, got "yes".'],
    ['gracefulStop', { timeout: -1 }, 'Invalid option "gracefulStop.timeout": expected milliseconds'],
    ['gracefulStop', { delay: 1 }, 'Invalid option "gracefulStop.delay": unknown.'],
    ['fastify', 'http2', 'Invalid option "fastify": expected an object, got "http2".'],
    ['memory', true, 'Invalid option "memory": renamed to "responseCache".'],
  ])('refuse %s: %j', async (name, value, message) => {
    const options = { dir: standInApp(), [name]: value }
    const error = { code: 'NEXT_ON_FASTIFY_INVALID_OPTION', message: expect.stringContaining(message) as string }
    await expect(createNextOnFastify(options)).rejects.toMatchObject(error)
  })

  it('are none of the plugin, which ends no process', async () => {
    const options = { dir: standInApp(), gracefulStop: true }
    await expect(Fastify().register(nextPlugin, options)).rejects.toMatchObject({
      code: 'NEXT_ON_FASTIFY_INVALID_OPTION',
    })
  })
})

describe('errorCodes', () => {
  it('has the class of each code', async () => {
    for (const [code, ErrorClass] of Object.entries(errorCodes)) expect(new ErrorClass('')).toMatchObject({ code })
    const error: unknown = await createNextOnFastify({ dir: '/none' }).catch((thrown: unknown) => thrown)
    expect(error).toBeInstanceOf(errorCodes.NEXT_ON_FASTIFY_INVALID_OPTION)
    expect(error).not.toBeInstanceOf(errorCodes.NEXT_ON_FASTIFY_NO_BUILD)
  })
})

describe('nextStats()', () => {
  it('returns statistics of the app with a prefix, and undefined for another prefix', async () => {
    const dir = standInApp({ config: [] })
    const app = Fastify()
    await app.register(nextPlugin, { dir, dev: false, prefix: '/shop' })
    await app.register(nextPlugin, { dir, dev: false, prefix: '/blog' })
    const off = { responseCache: undefined, routerBypass: undefined }
    expect(['/shop', '/blog', '', undefined].map((prefix) => app.nextStats(prefix))).toEqual([
      off,
      off,
      undefined,
      undefined,
    ])
    expect((await createNextOnFastify({ dir, dev: false })).nextStats()).toEqual(off)
  })

  it('exists in each of several encapsulated plugins that register Next', async () => {
    const dir = standInApp({ config: [] })
    const app = Fastify()
    const seen: unknown[] = []
    for (const prefix of ['/shop', '/blog']) {
      await app.register(async (child) => {
        await child.register(nextPlugin, { dir, dev: false, prefix })
        seen.push(child.nextStats(prefix))
      })
    }
    const off = { responseCache: undefined, routerBypass: undefined }
    expect(seen).toEqual([off, off])
  })
})

describe('an app whose responses cannot be cached', () => {
  const linesOf = async (options: NextPluginOptions): Promise<{ level: number; msg: string }[]> => {
    const lines: string[] = []
    const logger = { level: 'info', stream: { write: (line: string) => void lines.push(line) } }
    await createNextOnFastify({ dir: standInApp(), dev: false, ...options, fastify: { logger } })
    return lines.map((line) => JSON.parse(line) as { level: number; msg: string })
  }
  const why = 'response cache disabled for this Next app: unrecognized build output'

  it.each<[string, NextPluginOptions, number[]]>([
    ['has one info line with the reason by default', {}, [30]],
    ['has a warning if it asks for the cache', { responseCache: true }, [40]],
    ['has no line if it turns the cache off', { responseCache: false }, []],
    ['has no line in `dev`', { dev: true }, []],
  ])('%s', async (_, options, levels) => {
    const lines = (await linesOf(options)).filter(({ msg }) => msg.startsWith('response cache'))
    expect(lines.map(({ level, msg }) => [level, msg])).toEqual(levels.map((level) => [level, why]))
  })
})

describe('the default export', () => {
  it.each<[string, (app: FastifyInstance, dir: string) => unknown]>([
    ['import()', (app, dir) => app.register(import('next-on-fastify'), { dir })],
    ['import() of it', async (app, dir) => app.register((await import('next-on-fastify')).default, { dir })],
    ['import() without await', (app, dir) => void app.register(import('next-on-fastify'), { dir })],
  ])('is the plugin, registered by %s', async (_, register) => {
    const app = Fastify()
    await register(app, standInApp())
    expect((await app.inject('/page')).json()).toMatchObject({ url: '/page' })
  })
})
