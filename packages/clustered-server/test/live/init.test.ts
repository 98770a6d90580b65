import { mkdirSync, symlinkSync } from 'node:fs'
import { describe, expect, it } from 'vitest'
import { CLI, Command } from '../helpers/command.ts'
import { Project } from '../helpers/project.ts'

it('prints a file for the project in the working directory', async () => {
  const project = new Project()
  const unit = project.run(['init', 'systemd', 'app.ts', '--name', 'shop', '--port', '8080'])
  expect([await unit.exit, unit.stderr]).toEqual([0, ''])
  expect(unit.stdout).toContain(`\nExecStart=${project.folder}/node_modules/.bin/clustered-server app.ts --admin-port `)
  expect(unit.stdout).toContain('\nWants=shop.socket\n')
  expect(unit.stdout).toContain('\nEnvironment=NODE_ENV=production PORT=8080\n')
  const manifests = project.run(['init', 'k8s', '--name', 'shop'])
  expect(await manifests.exit).toBe(0)
  expect(manifests.stdout).toContain('image: registry.example/shop:1')
})

it('prints the path of the link inside a release folder', async () => {
  const project = new Project()
  mkdirSync(project.path('releases/1'), { recursive: true })
  symlinkSync('releases/1', project.path('current'))
  const args = ['init', 'systemd', 'app.ts', '--name', 'shop']
  const unit = new Command(args, { PWD: undefined }, [], CLI, project.path('releases/1'))
  expect(await unit.exit).toBe(0)
  expect(unit.stdout).toContain(`\nExecStart=${project.path('current/node_modules/.bin/clustered-server')} app.ts `)
})

it('needs no app where a configuration file names it', async () => {
  const project = new Project({ 'clustered-server.config.json': '{ "app": "app.ts" }' })
  const file = project.run(['init', 'docker'])
  expect(await file.exit).toBe(0)
  expect(file.stdout).toContain('CMD ["node_modules/.bin/clustered-server", "--admin-port"')
})

describe('reads port and name', () => {
  const ECOSYSTEM = `module.exports = { apps: [
    { name: 'shop', script: 'app.ts', port: 8080, env_production: { PORT: 80 } },
    { name: 'Shop_Admin', script: 'admin.ts', env_production: { PORT: 8081 } },
  ] }`

  it.each([
    [['docker', 'ecosystem.config.cjs', '--only', 'shop'], 'shop', 8080, '"ecosystem.config.cjs", "--only", "shop",'],
    [
      ['docker', '--only', 'Shop_Admin', '--env', 'production'],
      ...(['shop-admin', 8081, '"--only", "Shop_Admin", "--env", "production",'] as const),
    ],
    [
      ['docker', 'ecosystem.config.cjs', '--only', 'shop', '--port', '9000', '--name', 'store'],
      ...(['store', 9000, '"ecosystem.config.cjs", "--only", "shop", "--port", "9000",'] as const),
    ],
  ])('of an app of an ecosystem file: init %j', async (args, name, port, command) => {
    const file = new Project({ 'ecosystem.config.cjs': ECOSYSTEM, 'admin.ts': '' }).run(['init', ...args])
    expect([await file.exit, file.stderr]).toEqual([0, ''])
    expect(file.stdout).toMatch(new RegExp(`^# docker build -t ${name} \\. .* -p ${port}:${port} ${name}\n`))
    expect(file.stdout).toContain(` PORT=${port}\n`)
    expect(file.stdout).toContain(`CMD ["node_modules/.bin/clustered-server", ${command} "--admin-port", `)
  })

  it('of a configuration file', async () => {
    const project = new Project({ 'clustered-server.config.json': '{ "app": "app.ts", "name": "shop", "port": 8080 }' })
    const socket = project.run(['init', 'systemd-socket'])
    expect([await socket.exit, socket.stderr]).toEqual([0, ''])
    expect(socket.stdout).toMatch(/^# \/etc\/systemd\/system\/shop\.socket\n[^]*\nListenStream=8080\n/)
  })
})

describe('keeps the times of a shutdown', () => {
  it.each([
    [
      'clustered-server.config.json',
      '{ "app": "app.ts", "shutdownDelay": 1000, "drainTimeout": 60500 }',
      ['--shutdown-delay 1000 --drain-timeout 60500', 72],
    ],
    [
      'ecosystem.config.json',
      '{ "script": "app.ts", "kill_timeout": 5000 }',
      ['--shutdown-delay 5000 --drain-timeout 5000', 20],
    ],
  ])('of %s', async (name, text, [flags, seconds]) => {
    const project = new Project({ [name]: text })
    const printed = async (kind: string): Promise<string> => {
      const file = project.run(['init', kind, '--name', 'shop'])
      expect([await file.exit, file.stderr]).toEqual([0, ''])
      return file.stdout.replaceAll(/", "/g, ' ')
    }
    const unit = await printed('systemd')
    expect(unit).toContain(` ${flags}\n`)
    expect(unit).toContain(`\nTimeoutStopSec=${seconds}\n`)
    const image = await printed('docker')
    expect(image).toContain(` ${flags}"]\n`)
    expect(image).toContain(` --stop-timeout ${seconds} `)
    expect(await printed('k8s')).toContain(`\n      terminationGracePeriodSeconds: ${seconds}\n`)
  })
})

it('says that the app is not there yet, as a build may make it', async () => {
  const file = new Project().run(['init', 'docker', 'dist/app.js'])
  expect([await file.exit, file.stderr]).toEqual([0, 'clustered-server: there is no file dist/app.js yet\n'])
  expect(file.stdout).toContain('CMD ["node_modules/.bin/clustered-server", "dist/app.js", "--admin-port"')
})

it.each([
  ['ecosystem.config.cjs', `module.exports = { apps: [{ name: 'shop', script: 'dist/app.js' }] }`],
  ['clustered-server.config.cjs', `module.exports = { app: 'dist/app.js', name: 'shop' }`],
])('says that the app of %s is not there yet', async (name, text) => {
  const file = new Project({ [name]: text }).run(['init', 'docker', name])
  expect([await file.exit, file.stderr]).toEqual([0, 'clustered-server: there is no file dist/app.js yet\n'])
  expect(file.stdout).toMatch(/^# docker build -t shop /)
})

it.each([
  [['init', 'docker', 'ecosystem.config.js'], 'there is no file'],
  [['init', 'docker', 'app.ts', '--only', 'shop'], '--only and --env need an ecosystem file of PM2'],
  [['init'], 'expected init systemd|systemd-socket|docker|k8s, got none'],
  [['init', 'heroku'], 'expected init systemd|systemd-socket|docker|k8s, got heroku'],
  [['init', 'docker'], 'expected an app, as in: clustered-server init docker app.js'],
  [['init', 'docker', 'a.js', 'b.js'], 'expected one app, got 2: see --help'],
  [['init', 'k8s', '--name', 'My App'], 'expected a name of lower-case letters, digits and hyphens, got "My App"'],
  [['init', 'k8s', '--nmae', 'app'], "Unknown option '--nmae'"],
])('%j ends with 2 and one line', async (args, message) => {
  const command = new Project().run(args)
  expect(await command.exit).toBe(2)
  expect(command.stderr).toMatch(/^clustered-server: [^\n]+\n$/)
  expect(command.stderr).toContain(message)
})
