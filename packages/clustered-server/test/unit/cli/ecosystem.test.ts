import { fileURLToPath } from 'node:url'
import { describe, expect, it } from 'vitest'
import { loadConfig } from '../../../src/cli/config/config-file.ts'
import { type EcosystemChoice, isEcosystem, readEcosystem } from '../../../src/cli/ecosystem/read-ecosystem.ts'
import { keyOf, MAPPED, UNSUPPORTED } from '../../../src/cli/ecosystem/keys.ts'
import { UsageError } from '../../../src/cli/usage-error.ts'

const load = async (file: string): Promise<unknown> =>
  (await loadConfig(fileURLToPath(new URL(`../../fixtures/ecosystems/${file}`, import.meta.url)))).value
const read = (config: unknown, choice: Partial<EcosystemChoice> = {}): ReturnType<typeof readEcosystem> =>
  readEcosystem(config, { cores: 8, ...choice })
const readApp = (app: object, choice?: Partial<EcosystemChoice>): ReturnType<typeof readEcosystem> =>
  read({ apps: [{ script: 'app.js', ...app }] }, choice)

const OUTPUT = 'not supported. Redirect the output in the shell, or let systemd or Docker collect it.'
const RESTARTS = 'not supported. Dead workers restart by themselves, with delays from 0.1 s to 30 s.'
const CRON = 'not supported. Run `clustered-server reload <name>` from cron or a systemd timer.'
const TIMESTAMP = 'not supported. Log lines of the server carry a timestamp; the output of the app is unchanged.'
const nothing = { cwd: undefined, args: [], env: {}, unsupported: [] }

describe('ecosystem files', () => {
  it.each([
    {
      ...{ file: 'all-cores.config.cjs', choice: { env: 'production' } },
      expected: {
        ...nothing,
        app: './dist/server.js',
        env: { NODE_ENV: 'production' },
        options: { name: 'shop-api', workers: 'auto', port: 8080 },
        unsupported: [`out_file: ${OUTPUT}`, `error_file: ${OUTPUT}`, `log_date_format: ${TIMESTAMP}`],
      },
    },
    {
      ...{ file: 'count-as-text.config.cjs', choice: {} },
      expected: {
        ...nothing,
        app: 'server.js',
        cwd: '/srv/blog',
        env: { NODE_ENV: 'production' },
        options: { name: 'blog', workers: 2, recycle: { rss: 500 * 2 ** 20 } },
      },
    },
    {
      ...{ file: 'several-apps.config.cjs', choice: { only: 'web' } },
      expected: {
        ...nothing,
        app: 'node_modules/next/dist/bin/next',
        cwd: '/srv/crm/web',
        args: ['start', '-p', '3001'],
        options: { name: 'web', workers: 1 },
      },
    },
    {
      ...{ file: 'several-apps.config.cjs', choice: { only: 'api' } },
      expected: {
        ...nothing,
        app: './dist/main.js',
        cwd: '/srv/crm/api',
        options: { name: 'api', workers: 4, recycle: { rss: 2 ** 30 } },
        unsupported: [`time: ${TIMESTAMP}`],
      },
    },
    {
      ...{ file: 'readiness.config.cjs', choice: {} },
      expected: {
        ...nothing,
        app: 'build/index.js',
        options: { name: 'ledger', workers: 'auto', startTimeout: 15_000, drainTimeout: 10_000 },
        unsupported: [
          'wait_ready: not supported. A worker is ready when it listens; set `readyPath` to check more.',
          `cron_restart: ${CRON}`,
          'shutdown_with_message: not supported. Workers close the app by its own `close()`.',
          `exp_backoff_restart_delay: ${RESTARTS}`,
        ],
      },
    },
    {
      ...{ file: 'spare-core.config.cjs', choice: {} },
      expected: {
        ...nothing,
        app: './app.js',
        args: ['--quality', '80', '--title', 'Our images'],
        options: { name: 'images', workers: 7, execArgv: ['--max-old-space-size=1024', '--enable-source-maps'] },
        unsupported: [
          'instance_var: not supported. The environment variable CLUSTERED_SERVER_WORKER has the id of the worker.',
        ],
      },
    },
    {
      ...{ file: 'from-environment.config.cjs', choice: { only: 'gateway' } },
      expected: {
        ...nothing,
        app: 'dist/gateway.js',
        env: { NODE_ENV: 'production', HOST: '127.0.0.1' },
        options: { name: 'gateway', workers: 1, port: 9000, host: '127.0.0.1' },
        unsupported: ['instances: one worker cannot be reloaded. Set 2 or more for reloads without downtime.'],
      },
    },
    {
      ...{ file: 'one-fork.config.cjs', choice: {} },
      expected: {
        ...nothing,
        app: './src/index.js',
        args: ['--shard', '3'],
        options: { name: 'bot', workers: 1, execArgv: ['--enable-source-maps', '--no-warnings'] },
        unsupported: [
          'max_restarts: not supported. Restarts end after ten early deaths in a row.',
          `min_uptime: ${RESTARTS}`,
          `restart_delay: ${RESTARTS}`,
          'log_rotate: unknown. PM2 has no such key.',
        ],
      },
    },
    {
      ...{ file: 'typescript.config.mjs', choice: { env: 'staging' } },
      expected: {
        ...nothing,
        app: './src/server.ts',
        env: { NODE_ENV: 'production', LOG_LEVEL: 'debug' },
        options: {
          name: 'planner',
          workers: 2,
          port: 5000,
          drainTimeout: 3000,
          recycle: { rss: 200 * 2 ** 20 },
          execArgv: ['--enable-source-maps'],
        },
        unsupported: [
          'exec_mode: "fork" has no effect with 2 instances. The workers share one port.',
          `interpreter: 'tsx' is not supported. Workers run on Node ${process.versions.node}.`,
        ],
      },
    },
    {
      ...{ file: 'process.config.json', choice: {} },
      expected: {
        ...nothing,
        app: './bin/www',
        env: { DEBUG: 'false', RETRIES: '3', LIMITS: '{"upload":10}' },
        options: { name: 'legacy', workers: 'auto', port: '/run/legacy.sock' },
        watch: { paths: ['server', 'lib'], ignore: [] },
        unsupported: [
          'deploy: not supported. Deploy by other means, then reload.',
          'watch_delay: not supported. A reload follows 100 ms after the last change.',
          `error_file: ${OUTPUT}`,
        ],
      },
    },
  ])('reads $file with $choice', async ({ file, choice, expected }) => {
    const config = await load(file)
    expect(isEcosystem(config)).toBe(true)
    expect(read(config, choice)).toEqual(expected)
  })

  it.each([
    ['npm-start.config.cjs', {}, 'cannot run script "npm": expected a module of the app, such as "dist/server.js"'],
    ['several-apps.config.cjs', {}, 'the ecosystem file has 3 apps: choose one by --only, of web, api, mailer'],
    ['several-apps.config.cjs', { only: 'www' }, 'the ecosystem file has no app www: expected web or api or mailer'],
    [
      'all-cores.config.cjs',
      { env: 'test' },
      'the app shop-api of the ecosystem file has no env_test: expected production',
    ],
    [
      'one-fork.config.cjs',
      { env: 'test' },
      'the app bot of the ecosystem file has no env_test, and no other env_<name>',
    ],
  ])('rejects %s with %j', async (file, choice, message) => {
    const config = await load(file)
    expect(() => read(config, choice)).toThrow(new UsageError(message))
  })
})

describe('name', () => {
  it.each([
    [{ name: 'My shop' }, 'My shop', []],
    [{ script: 'dist/web.js' }, 'web', []],
    [{ name: 7 }, undefined, ["name: '7' cannot name a service here. Set another one by --name."]],
    [{ script: '7.js' }, undefined, ["name: '7' cannot name a service here. Set another one by --name."]],
  ])('of %j becomes %j', (app, name, unsupported) => {
    const found = readApp(app)
    expect([found.options.name, found.unsupported]).toEqual([name, unsupported])
  })
})

it('pid_file becomes pidFile', () => {
  expect(readApp({ pid_file: 'run/shop.pid' }).options.pidFile).toBe('run/shop.pid')
})

describe('instances', () => {
  it.each([
    [undefined, 1],
    [1, 1],
    [3, 3],
    ['3', 3],
    [0, 'auto'],
    ['max', 'auto'],
    ['auto', 'auto'],
    [-3, 5],
    ['-1', 7],
    [-8, 1],
    [-20, 1],
  ])('%j of 8 cores become %j workers', (instances, workers) => {
    expect(readApp({ instances }).options.workers).toBe(workers)
  })

  it('names what one instance in cluster mode loses, and what more instances in fork mode lose', () => {
    expect(readApp({ exec_mode: 'cluster' }).unsupported).toEqual([expect.stringMatching(/^instances: one worker/)])
    expect(readApp({ exec_mode: 'fork', instances: 4 }).unsupported).toEqual([expect.stringMatching(/^exec_mode: /)])
    expect(readApp({ exec_mode: 'fork' }).unsupported).toEqual([])
    expect(readApp({ exec_mode: 'cluster', instances: 2 }).unsupported).toEqual([])
  })
})

describe('shapes', () => {
  const app = { script: 'app.js' }

  it.each([[[app]], [app], [{ apps: app }], [{ apps: [app] }], [{ pm2: [app] }], [{ exec: 'app.js' }]])(
    'takes %j',
    (config) => {
      expect(isEcosystem(config)).toBe(true)
      expect(read(config).app).toBe('app.js')
    },
  )

  it('takes no configuration of this package for one of PM2', () => {
    expect(isEcosystem({ app: 'app.js', workers: 2 })).toBe(false)
    expect(isEcosystem(undefined)).toBe(false)
    expect(isEcosystem('apps')).toBe(false)
  })

  it.each([
    [{ apps: [] }, 'the ecosystem file has no apps'],
    [{ apps: ['app.js'] }, "expected each app of the ecosystem file to be an object, got 'app.js'"],
    [{ apps: [{}] }, 'the app of the ecosystem file has no script'],
    [{ apps: [{ ...app, script: 7 }] }, 'invalid script in the ecosystem file: expected a string, got 7'],
    [{ apps: [{ ...app, script: 'start.sh' }] }, /^cannot run script "start.sh"/],
    [{ apps: [{ ...app, script: 'nodemon app.js' }] }, /^cannot run script "nodemon app.js"/],
    [{ apps: [{ ...app, args: { a: 1 } }] }, /^invalid args in the ecosystem file: expected a string or an array/],
    [{ apps: [{ ...app, env: 'production' }] }, /^invalid env in the ecosystem file: expected an object/],
    [{ apps: [{ ...app, kill_timeout: 'soon' }] }, /^invalid kill_timeout .* expected milliseconds, got 'soon'$/],
    [{ apps: [{ ...app, max_memory_restart: 'much' }] }, /^invalid max_memory_restart .* such as "300M", got 'much'$/],
  ])('rejects %j in one line', (config, message) => {
    expect(() => read(config)).toThrow(UsageError)
    expect(() => read(config)).toThrow(message)
  })

  it('names an app without a name after its script, as PM2 does', () => {
    expect(read([{ script: './dist/api.js' }, { script: 'web.js' }], { only: 'api' }).app).toBe('./dist/api.js')
  })
})

describe('keys', () => {
  it('takes a key over its aliases, and an alias where the key has no value', () => {
    expect(readApp({ script: undefined, exec: 'a.js' }).app).toBe('a.js')
    expect(readApp({ script: 'b.js', exec: 'a.js' }).app).toBe('b.js')
    expect(readApp({ exec: 'a.js', script: 'b.js' }).app).toBe('b.js')
  })

  it('takes each key in camel case too, as PM2 does', () => {
    for (const key of [...Object.keys(MAPPED), ...UNSUPPORTED.map((one) => one.key)]) expect(keyOf(key)).toBe(key)
    expect(keyOf('maxMemoryRestart')).toBe('max_memory_restart')
    expect(keyOf('interpreterArgs')).toBe('node_args')
    expect(keyOf('constructor')).toBeUndefined()
  })

  it('needs no warning for values that describe what the server does anyway', () => {
    const harmless = UNSUPPORTED.flatMap(({ key, harmless: values = [] }) => values.map((value) => ({ [key]: value })))
    expect(harmless.length).toBeGreaterThan(20)
    for (const app of harmless) expect(readApp(app).unsupported).toEqual([])
  })

  it('warns of each key without a counterpart, in one line', () => {
    for (const { key } of UNSUPPORTED) {
      const lines = readApp({ watch: true, [key]: 'something' }).unsupported.filter((line) =>
        line.startsWith(`${key}: `),
      )
      expect(lines).toEqual([expect.stringMatching(/^\w+: not supported\. [^\n]+\.$/)])
    }
  })

  it('takes HOST for the address, whether it is a name or an IP address', () => {
    expect(readApp({ env: { HOST: 'localhost' } }).options.host).toBe('localhost')
    expect(readApp({ env: { HOST: '::1' } }).options.host).toBe('::1')
    expect('host' in readApp({ env: { HOST: '' } }).options).toBe(false)
  })

  it('keeps quoted words of args together', () => {
    expect(readApp({ args: `a "b c" --d='e f' g` }).args).toEqual(['a', 'b c', '--d=e f', 'g'])
  })
})
