// The files that `clustered-server init` prints are those of examples/deploy, for the command in place of a server of one's
// own. The tools that would use them check them.

import { execFile } from 'node:child_process'
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { basename, join } from 'node:path'
import { promisify } from 'node:util'
import { Deployment as DeploymentModel } from 'kubernetes-models/apps/v1'
import { HorizontalPodAutoscaler } from 'kubernetes-models/autoscaling/v2'
import { PodDisruptionBudget } from 'kubernetes-models/policy/v1'
import { Service } from 'kubernetes-models/v1'
import { requireProgram } from '@test/required-program'
import { describe, expect, it } from 'vitest'
import { parse, parseAllDocuments } from 'yaml'
import { type Deployment, initText, nameOf } from '../../packages/clustered-server/src/cli/commands/init.ts'

const run = promisify(execFile)
const example = (file: string): string =>
  readFileSync(new URL(`../../examples/deploy/${file}`, import.meta.url), 'utf8')
const app: Deployment = { app: 'app.ts', directory: '/srv/app', name: 'app', port: 3000 }
const text = (kind: string, change: Partial<Deployment> = {}): string => initText(kind, { ...app, ...change })

describe('k8s', () => {
  const manifests = (change?: Partial<Deployment>): unknown[] =>
    parseAllDocuments(text('k8s', change)).map((document) => document.toJS() as unknown)

  it('prints the manifests of examples/deploy', () => {
    const files = ['deployment', 'service', 'autoscaler', 'disruption-budget']
    expect(manifests()).toEqual(files.map((file) => parse(example(`kubernetes/${file}.yaml`)) as unknown))
  })

  it('prints manifests that the schemas of Kubernetes accept, for any name and port', () => {
    const models = [DeploymentModel, Service, HorizontalPodAutoscaler, PodDisruptionBudget]
    const printed = manifests({ name: 'my-shop-2', port: 8080 })
    expect(printed).toHaveLength(models.length)
    for (const [index, Model] of models.entries())
      expect(() => new Model(printed[index] as never).validate()).not.toThrow()
    expect(JSON.stringify(printed)).toContain('"containerPort":8080')
  })
})

describe('systemd', () => {
  /** Settings of a unit. One that is given twice stands twice. */
  const settings = (unit: string): string[] => unit.split('\n').filter((line) => /^\[|^\w+=/.test(line))

  it('prints the units of examples/deploy', () => {
    const differs = /^(?:Description|Requires|Wants|ExecStart|Environment)=/
    const same = (unit: string): string[] => settings(unit).filter((line) => !differs.test(line))
    expect(same(text('systemd'))).toEqual(same(example('systemd/app.service')))
    expect(same(text('systemd-socket'))).toEqual(same(example('systemd/app.socket')))
  })

  it('starts the command of the project, quoted where systemd needs it', () => {
    const line = (change?: Partial<Deployment>): string | undefined =>
      settings(text('systemd', change)).find((setting) => setting.startsWith('ExecStart='))
    const options = '--admin-port 3001 --admin-host 127.0.0.1 --shutdown-delay 5000 --drain-timeout 20000'
    expect(line()).toBe(`ExecStart=/srv/app/node_modules/.bin/clustered-server app.ts ${options}`)
    expect(line({ app: undefined })).toBe(`ExecStart=/srv/app/node_modules/.bin/clustered-server ${options}`)
    expect(line({ app: 'my app 100%$.js' })).toContain(' "my app 100%%$$.js" ')
  })

  const verify = async (change: (unit: string) => string): Promise<string> => {
    const place = mkdtempSync(join(tmpdir(), 'units-'))
    try {
      const units = { 'app.service': text('systemd'), 'app.socket': text('systemd-socket') }
      for (const [name, unit] of Object.entries(units))
        // systemd looks for the program, which is elsewhere on this machine.
        writeFileSync(join(place, name), change(unit.replace(/(ExecStart=)\S+/, `$1${process.execPath}`)))
      const files = Object.keys(units).map((name) => join(place, name))
      const { stderr } = await run('systemd-analyze', ['verify', '--man=no', ...files])
      return stderr
    } finally {
      rmSync(place, { recursive: true })
    }
  }

  it.runIf(requireProgram('systemd-analyze', 'systemd'))('prints units that systemd accepts', async () => {
    expect(await verify((unit) => unit)).not.toContain('app.')
    expect(await verify((unit) => unit.replace('KillMode=mixed', 'KillMode=gentle'))).toContain('kill mode')
  })
})

describe('docker', () => {
  const instructions = (file: string): string[] => file.split('\n').filter((line) => /^[A-Z]/.test(line))

  it('prints the Dockerfile of examples/deploy', () => {
    const same = (file: string): string[] => instructions(file).filter((line) => !/^(?:COPY|CMD)/.test(line))
    expect(same(text('docker'))).toEqual(same(example('Dockerfile')))
  })

  it('starts the command without a shell, on the port of the app', () => {
    const printed = instructions(text('docker', { port: 8080 }))
    expect(printed).toContain('EXPOSE 8080 3001')
    expect(printed).toContain('ENV NODE_ENV=production HOST=0.0.0.0 PORT=8080')
    const command = printed.find((line) => line.startsWith('CMD '))!.slice(4)
    const options = ['--admin-port', '3001', '--admin-host', '0.0.0.0', '--shutdown-delay', '5000']
    const expected = ['node_modules/.bin/clustered-server', 'app.ts', ...options, '--drain-timeout', '20000']
    expect(JSON.parse(command)).toEqual(expected)
  })
})

it('each sender of SIGTERM waits longer than the server takes', () => {
  const option = (name: string): number => Number(new RegExp(`--${name} (\\d+)`).exec(text('systemd'))![1])
  // An app has 5 seconds to close.
  const longest = (option('shutdown-delay') + option('drain-timeout')) / 1000 + 5
  const waits = [
    /^TimeoutStopSec=(\d+)$/m.exec(text('systemd')),
    /--stop-timeout (\d+)/.exec(text('docker')),
    /terminationGracePeriodSeconds: (\d+)/.exec(text('k8s')),
  ]
  for (const wait of waits) expect(Number(wait![1])).toBeGreaterThan(longest)
})

describe('what is wrong', () => {
  it.each([
    [undefined, {}, 'expected init systemd|systemd-socket|docker|k8s, got none'],
    ['heroku', {}, 'expected init systemd|systemd-socket|docker|k8s, got heroku'],
    ['k8s', { name: 'My App' }, 'expected a name of lower-case letters, digits and hyphens, got "My App": see --name'],
    ['k8s', { name: 'true' }, /^expected a name of/],
    ['docker', { port: 0 }, 'expected --port to be a port other than 3001, got 0'],
    ['docker', { port: 3001 }, 'expected --port to be a port other than 3001, got 3001'],
    ['docker', { port: NaN }, 'expected --port to be a port other than 3001, got NaN'],
  ])('rejects %s with %j', (kind, change, message) => {
    expect(() => initText(kind, { ...app, ...change })).toThrow(message)
  })

  it.each([
    ['/srv/app', 'app'],
    ['/srv/My Shop (2)', 'my-shop-2'],
    ['/srv/2024_api', 'api'],
    ['/', 'app'],
    [`/srv/${'x'.repeat(100)}`, 'x'.repeat(40)],
  ])('%s is named %s', (directory, name) => {
    expect(nameOf(basename(directory))).toBe(name)
    expect(() => text('k8s', { name })).not.toThrow()
  })
})
