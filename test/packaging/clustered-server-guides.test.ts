// The guides that lead to clustered-server, in an empty folder with its tarball.

import { execFile } from 'node:child_process'
import { mkdtempSync, realpathSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { promisify } from 'node:util'
import { requireProgram } from '@test/required-program'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { parseAllDocuments } from 'yaml'
import { readGuide, startCommand } from './guide.ts'
import { NODES, shell, writeFiles } from './quick-start.ts'
import { bodyOf } from './starter.ts'
import { demand, run, Tarball } from './tarball.ts'

const tarball = new Tarball('clustered-server')
const { project } = tarball

beforeAll(() => tarball.install({ 'package.json': '{ "private": true, "type": "module" }\n' }, ['fastify']))
afterAll(() => tarball.remove())

describe('the guide from-pm2-and-node-cluster', () => {
  it('starts the ecosystem file with the warnings that it shows, and its commands work', async () => {
    const { files, blocks, commands, ports } = await readGuide('from-pm2-and-node-cluster')
    writeFiles(project, files)
    const [, start, control] = commands
    const server = startCommand(project, start!.trim())
    expect(JSON.parse(await bodyOf(ports['3000']!, '/'))).toEqual({ hello: 'world' })
    const [warnings] = blocks.filter(({ language }) => language === '').map(({ code }) => code.trim().split('\n'))
    expect(warningsOf(server.output)).toEqual(warnings)

    const lines = control!.trim().split('\n')
    expect(lines.map((line) => line.split(' ')[2])).toEqual(['status', 'reload', 'scale', 'stop'])
    const outputs = []
    for (const line of lines) outputs.push((await demand(project, shell(line, NODES[24]))).output)
    expect(outputs).toEqual([
      expect.stringContaining('shop ('),
      expect.stringContaining('runs generation 2'),
      expect.stringContaining('runs 3 workers'),
      expect.stringContaining('has ended'),
    ])
    expect(await server.code).toBe(0)
  })

  it('responds the same by node:cluster and by clustered-server', async () => {
    const { files, commands, ports } = await readGuide('from-pm2-and-node-cluster')
    writeFiles(project, files)
    for (const command of commands.at(-1)!.trim().split('\n')) startCommand(project, command)
    const before = await bodyOf(ports['3001']!, '/')
    expect(before).toBe('{"hello":"world"}')
    expect(await bodyOf(ports['3002']!, '/')).toBe(before)
  })
})

describe('the guide kubernetes-and-systemd', () => {
  const LANGUAGES = ['ini', 'dockerfile', 'yaml']

  it('shows what each of its commands prints', async () => {
    const { files, blocks, commands } = await readGuide('kubernetes-and-systemd')
    // Of the guide above. Without an app, `init` reads its port.
    rmSync(join(project, 'ecosystem.config.cjs'), { force: true })
    writeFiles(project, files)
    const shown = blocks.filter(({ language }) => LANGUAGES.includes(language)).map(({ code }) => code)
    const [, ...inits] = commands
    const printed = []
    for (const command of inits) {
      const { stdout } = await demand(project, shell(command, NODES[24]))
      printed.push(stdout.replaceAll(realpathSync(project), '/srv/shop'))
    }
    expect(printed).toHaveLength(4)
    expect(shown).toEqual(printed)
  })

  it('shows manifests of four kinds', async () => {
    const { blocks } = await readGuide('kubernetes-and-systemd')
    const documents = parseAllDocuments(blocks.find(({ language }) => language === 'yaml')!.code)
    expect(documents.flatMap(({ errors, warnings }) => [...errors, ...warnings])).toEqual([])
    const kinds = documents.map((document) => document.get('kind'))
    expect(kinds).toEqual(['Deployment', 'Service', 'HorizontalPodAutoscaler', 'PodDisruptionBudget'])
  })

  it.runIf(requireProgram('systemd-analyze', 'systemd'))('shows units that systemd accepts', async () => {
    const { blocks } = await readGuide('kubernetes-and-systemd')
    const units = blocks.filter(({ language }) => language === 'ini').map(({ code }) => code)
    expect(await verify(units)).not.toContain('shop.')
    expect(await verify(units.map((unit) => unit.replace('KillMode=mixed', 'KillMode=gentle')))).toContain('kill mode')
  })

  it('starts and stops by the command of its unit', async () => {
    const { files, blocks } = await readGuide('kubernetes-and-systemd')
    writeFiles(project, files)
    const [, command] = /^ExecStart=\S+\/(clustered-server app\.js .*)$/m.exec(blocks.map(({ code }) => code).join())!
    // Free ports for the app and the admin server, and no time for load balancers.
    const brief = command!.replace('3001', '0').replace('--shutdown-delay 5000', '--shutdown-delay 0')
    const start = shell(`PORT=0 exec node_modules/.bin/${brief} --workers 2`, NODES[24])
    let isStopped = false
    const { code, output } = await run(project, start, (text, end) => {
      // A second signal would kill the requests in flight.
      if (!isStopped && text.includes('listening on')) end()
      isStopped ||= text.includes('listening on')
    })
    expect({ code, output }).toEqual({ code: 0, output: expect.stringMatching(/listening on.*: 2 workers/) })
  })
})

/** Messages of warnings and errors. */
function warningsOf(log: string): string[] {
  const lines = log.split('\n').filter((line) => line.startsWith('{'))
  return lines
    .map((line) => JSON.parse(line) as { level: number; msg: string })
    .filter(({ level }) => level >= 40)
    .map(({ msg }) => msg)
}

async function verify(units: readonly string[]): Promise<string> {
  const place = mkdtempSync(join(tmpdir(), 'units-'))
  try {
    const files = units.map((unit) => {
      const [, name] = /^# \S*\/(\S+)\n/.exec(unit)!
      // systemd looks for the program and the folder, which are elsewhere on this machine.
      const local = unit.replace(/(ExecStart=)\S+/, `$1${process.execPath}`)
      writeFileSync(join(place, name!), local)
      return join(place, name!)
    })
    const { stderr } = await promisify(execFile)('systemd-analyze', ['verify', '--man=no', ...files])
    return stderr
  } finally {
    rmSync(place, { recursive: true })
  }
}
