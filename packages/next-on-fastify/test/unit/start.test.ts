import { writeFileSync } from 'node:fs'
import { join } from 'node:path'
import Fastify, { type FastifyInstance } from 'fastify'
import { createNextOnFastify, nextPlugin, type NextPluginOptions } from 'next-on-fastify'
import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest'
import { standInApp } from '../helpers/stand-in.ts'

const counted = globalThis as { closedNext?: number }

beforeEach(() => void (counted.closedNext = 0))
afterEach(() => vi.unstubAllEnvs())

describe('options', () => {
  it.each([
    ['dir', '/none', 'Expected `dir` to be a folder that is there, got "/none" (string)'],
    ['dir', 7, 'got 7 (number)'],
    ['dev', 'yes', 'Expected `dev` to be a boolean, got "yes" (string)'],
    ['hostname', '', 'Expected `hostname` to be a host name, got "" (string)'],
    ['port', 70_000, 'Expected `port` to be a port, got 70000 (number)'],
    ['prefix', 'shop', 'Expected `prefix` to be a path that begins with a slash'],
    ['prefix', '/shop/', 'does not end with one'],
    ['prefix', '/:id', 'without parameters'],
    ['logLevel', 'loud', 'Expected `logLevel` to be one of trace, debug, info, warn, error, fatal, silent'],
    ['upgrades', null, 'Expected `upgrades` to be a boolean, got null'],
    ['requestIdHeader', 'X Id', 'Expected `requestIdHeader` to be the name of a header in lower case'],
    ['requestIdHeader', [], 'got an array'],
    ['memory', 'on', 'Expected `memory` to be a boolean, or an object with limits that are whole numbers above 0'],
    ['memory', { entries: 0 }, 'got an object'],
    ['memory', { proxyMemory: 1 }, 'got an object'],
    ['memory', { brotli: 'yes' }, 'got an object'],
    ['memory', { size: 1 }, 'got an object'],
    [
      'observers',
      {},
      'Expected `observers` to be an array of objects with some of nextOpened, nextClosed, nextAnswered',
    ],
    ['observers', [null], 'got an array'],
    ['observers', [{}], 'got an array'],
    ['observers', [{ nextAnswered: 'log' }], 'got an array'],
    [
      'cache',
      'redis',
      "Expected `cache` to be 'process', 'machine', or an object with a `folder`, or with `redis`, a `prefix` and a `timeout` above 0, got \"redis\" (string)",
    ],
    ['cache', { folder: 7 }, 'got an object'],
    ['cache', { file: 'a' }, 'got an object'],
    ['cache', { redis: 'redis://cache' }, 'got an object'],
    ['cache', { redis: async () => {}, prefix: 7 }, 'got an object'],
    ['cache', { redis: async () => {}, timeout: 0 }, 'got an object'],
    ['cache', { redis: async () => {}, folder: 'a' }, 'got an object'],
    ['direct', true, "Expected `direct` to be false, 'api' or 'all', got true (boolean)"],
    ['conf', {}, 'Expected `options` to have some of dir, dev,'],
    ['dir', {}, 'got an object'],
    ['dir', () => {}, 'got a function'],
  ])('refuses %s: %j', async (name, value, message) => {
    const error = { code: 'NEXT_ON_FASTIFY_INVALID_OPTION', message: expect.stringContaining(message) as string }
    const options = { dir: standInApp(), [name]: value } as NextPluginOptions
    await expect(createNextOnFastify(options)).rejects.toMatchObject(error)
    const registered = Fastify().register(nextPlugin, options)
    await expect(registered).rejects.toMatchObject(error)
  })

  it('that are no object are refused', async () => {
    await expect(createNextOnFastify(null as never)).rejects.toThrow('Expected `options` to be an object, got null')
  })

  it('go to Next as they are', async () => {
    const app = await createNextOnFastify({ dir: standInApp(), dev: false, hostname: 'example.com', port: 4000 })
    expect((await app.inject('/')).json()).toMatchObject({ next: { dev: false, hostname: 'example.com', port: 4000 } })
  })

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
  it('whose `next` cannot be loaded is told so', async () => {
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

  it('that was not built is told so in production, and Next is closed', async () => {
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
      message: `Expected the Next app in ${dir} to start, got: No pages`,
      cause: { message: 'No pages' },
    })
  })

  it('that was built for another path than `prefix` is told so', async () => {
    const dir = standInApp({ config: { basePath: '/store' } })
    await expect(createNextOnFastify({ dir, dev: false, prefix: '/shop' })).rejects.toMatchObject({
      code: 'NEXT_ON_FASTIFY_BASE_PATH',
      message: `Expected \`basePath\` in the configuration of ${dir} to be \`prefix\`, '/shop', got '/store'`,
    })
  })

  it('of `output: standalone` is told its configuration, as it has no file of it', async () => {
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

  it('of another `output` is not told its configuration', async () => {
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

describe('options of the factory', () => {
  it.each([
    ['gracefulStop', 'yes', 'Expected `gracefulStop` to be a boolean, or an object with a `timeout` of 0 or more'],
    ['gracefulStop', { timeout: -1 }, 'got an object'],
    ['gracefulStop', { delay: 1 }, 'got an object'],
    ['fastify', 'http2', 'Expected `fastify` to be an object, got "http2" (string)'],
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
