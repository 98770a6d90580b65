import { mkdirSync, renameSync } from 'node:fs'
import { describe, expect, it } from 'vitest'
import { environmentOf, Project } from '../helpers/project.ts'

const INDEX = JSON.stringify(new URL('../../src/index.ts', import.meta.url).href)
const two = { app: 'app.ts', workers: 2, port: 0, host: '127.0.0.1' }
const config = (value: object): Record<string, string> => ({
  'clustered-server.config.json': JSON.stringify({ ...two, ...value }),
})

describe('a configuration file', () => {
  it('starts its app with its options', async () => {
    const project = new Project({
      'clustered-server.config.ts': `
        import { defineConfig } from ${INDEX}
        const workers: number = 2
        export default defineConfig({
          app: './app.ts', workers, port: 0, host: '127.0.0.1', args: ['--fast'], env: (generation) => ({ GENERATION: String(generation) }),
        })`,
    })
    const command = project.run([])
    const { env, args } = await environmentOf(command)
    expect(env['GENERATION']).toBe('1')
    expect(args).toEqual(['--fast'])
    expect(command.log.filter(({ msg }) => /^worker \d accepts connections/.test(msg))).toHaveLength(2)
  })

  it('is overridden by flags, in recycle and admin key by key', async () => {
    const project = new Project(config({ workers: 1, args: ['a'], admin: { port: 0, host: '::1' } }))
    const flags = ['--workers', '2', '--admin-host', '127.0.0.1', '--', 'b']
    const command = project.run(flags)
    expect((await environmentOf(command)).args).toEqual(['b'])
    const { admin } = await command.listening()
    const response = await fetch(`http://127.0.0.1:${admin!.port}/status`)
    expect(((await response.json()) as { workers: unknown[] }).workers.length).toBeGreaterThanOrEqual(2)
  })

  it('applies to an app that the command names too', async () => {
    const project = new Project(config({ app: 'none.ts', env: { FROM: 'file' } }))
    expect((await environmentOf(project.run(['app.ts']))).env['FROM']).toBe('file')
  })

  it('names its paths relative to itself', async () => {
    const project = new Project(config({ envFile: '.env' }))
    project.write('.env', 'FROM=env file\n')
    mkdirSync(project.path('deploy'))
    for (const name of ['clustered-server.config.json', 'app.ts', '.env'])
      renameSync(project.path(name), project.path(`deploy/${name}`))
    const { env, cwd } = await environmentOf(project.run(['--config', 'deploy/clustered-server.config.json']))
    expect(env['FROM']).toBe('env file')
    expect(cwd).toBe(project.folder)
  })

  it('gives its logger to the server', async () => {
    const project = new Project({
      'clustered-server.config.mjs': `
        const at = (level) => (about, message) => console.log(level, message)
        export default { app: 'app.ts', workers: 2, port: 0, host: '127.0.0.1',
          logger: { info: at('info'), warn: at('warn'), error: at('error') } }`,
    })
    const command = project.run([])
    await expect.poll(() => command.stdout).toContain('info listening on')
    expect(command.stderr).toBe('')
  })
})

describe('an ecosystem file', () => {
  const ecosystem = `
    module.exports = {
      apps: [
        {
          name: 'web',
          script: './server.ts',
          cwd: 'web',
          args: 'start --title "two words"',
          instances: 2,
          exec_mode: 'cluster',
          node_args: '--no-warnings',
          wait_ready: true,
          watch: false,
          max_restarts: 10,
          env: { NODE_ENV: 'development', HOST: '127.0.0.1', PORT: 0 },
          env_production: { NODE_ENV: 'production' },
        },
        { name: 'worker', script: './worker.js' },
      ],
    }`

  function project(): Project {
    const one = new Project({ 'ecosystem.config.js': ecosystem })
    mkdirSync(one.path('web'))
    renameSync(one.path('app.ts'), one.path('web/server.ts'))
    return one
  }

  it.each([
    ['without an argument', []],
    ['as an argument', ['ecosystem.config.js']],
    ['by --config', ['--config', 'ecosystem.config.js']],
  ])('starts an app, named %s', async (_, args) => {
    const one = project()
    const command = one.run([...args, '--only', 'web', '--env', 'production'])
    const environment = await environmentOf(command)
    expect(environment).toMatchObject({ args: ['start', '--title', 'two words'], cwd: one.path('web') })
    expect(environment.execArgv).toContain('--no-warnings')
    expect(environment.env).toMatchObject({ NODE_ENV: 'production', HOST: '127.0.0.1' })
    const { port } = await command.listening()
    expect(environment.env['PORT']).toBe(String(port))
    const warnings = command.log.filter(({ level }) => level === 40).map(({ msg }) => msg)
    expect(warnings).toEqual([
      'ecosystem.config.js: wait_ready: not supported. A worker is ready when it listens; set `readyPath` to check more.',
      'ecosystem.config.js: max_restarts: not supported. Restarts end after ten early deaths in a row.',
    ])
  })

  it('is overridden by flags', async () => {
    const command = project().run(['--only', 'web', '--workers', '1', '--', 'other'])
    expect(await environmentOf(command)).toMatchObject({ args: ['other'], pid: command.child.pid })
  })

  it('may be JSON by any name', async () => {
    const { env } = await environmentOf(
      new Project({
        'processes.json': JSON.stringify({
          apps: [{ script: 'app.ts', env: { PORT: 0, HOST: '127.0.0.1', FROM: 'file' } }],
        }),
      }).run(['processes.json']),
    )
    expect(env['FROM']).toBe('file')
  })

  it('gives its port to the app in one process too, not only at the start', async () => {
    const command = project().run(['--only', 'web', '--workers', '1'], { PORT: '1' })
    expect((await environmentOf(command)).env['PORT']).toBe('0')
  })

  it('has no effect on an app that the command names', async () => {
    const one = project()
    const { env, cwd } = await environmentOf(one.run(['web/server.ts', '--port', '0', '--workers', '2']))
    expect(env['NODE_ENV']).toBe(process.env['NODE_ENV'])
    expect(cwd).toBe(one.folder)
  })
})

describe('a mistake ends the command with 2 and one line', () => {
  it.each([
    [{}, [], 'expected an app or a configuration file: see --help'],
    [
      { 'clustered-server.config.json': '{ "workers": 2 }' },
      [],
      'clustered-server.config.json names no app: set "app" in it, or name the app on the command line',
    ],
    [
      config({ wrokers: 2 }),
      [],
      'clustered-server.config.json: Invalid option "wrokers": unknown. Did you mean "workers"?',
    ],
    [config({ workers: 0 }), [], 'clustered-server.config.json: Invalid option "workers": expected '],
    [
      config({ envFiles: '.env' }),
      [],
      'clustered-server.config.json: Invalid option "envFiles": unknown. Did you mean "envFile"?',
    ],
    [config({ app: 'none.ts' }), [], /there is no file \/.*none\.ts$/],
    [config({ envFile: 'none.env' }), [], /cannot read environment file \/.*none\.env: ENOENT$/],
    [config({}), ['--only', 'web'], '--only and --env need an ecosystem file of PM2'],
    [config({}), ['--config', 'none.json'], /there is no file \/.*none\.json$/],
    [{ 'clustered-server.config.json': '{' }, [], 'cannot load clustered-server.config.json: '],
    [
      { ...config({}), 'clustered-server.config.ts': '' },
      [],
      'found clustered-server.config.ts and clustered-server.config.json',
    ],
    [
      config({}),
      ['--config', 'a.json', 'pm2.config.js'],
      'expected one configuration file, got a.json and pm2.config.js',
    ],
    [
      { 'ecosystem.config.js': 'module.exports = {}', 'package.json': '{ "type": "module" }' },
      [],
      /cannot load ecosystem\.config\.js: module is not defined in ES module scope: rename it to ecosystem\.config\.cjs$/,
    ],
    [{ 'ecosystem.config.mjs': 'module.exports = {}' }, [], /: module is not defined in ES module scope$/],
    [config({}), ['--workers', '0'], 'Invalid option "--workers": expected '],
    [
      { 'ecosystem.config.json': '{ "apps": [{ "script": "npm", "args": "start" }] }' },
      [],
      'cannot run script "npm": expected a module of the app',
    ],
    [
      { 'ecosystem.config.json': '{ "apps": [{ "name": "a", "script": "a.js" }, { "name": "b", "script": "b.js" }] }' },
      [],
      'the ecosystem file has 2 apps: choose one by --only, of a, b',
    ],
    [
      { 'ecosystem.config.json': '{ "script": "app.ts", "env": { "PORT": "http" } }' },
      [],
      'ecosystem.config.json: Invalid option "port": expected ',
    ],
    [
      { 'ecosystem.config.json': '{ "script": "app.ts", "cwd": "none" }' },
      [],
      /cannot change to directory .*: ENOENT$/,
    ],
  ])('%j %j', async (files, args, message) => {
    const command = new Project(files).run(args)
    expect(await command.exit).toBe(2)
    expect(command.stderr).toMatch(/^clustered-server: [^\n]+\n$/)
    expect(command.stderr.trimEnd()).toMatch(message)
    expect(command.stdout).toBe('')
  })
})
