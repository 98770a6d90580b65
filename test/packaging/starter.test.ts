// examples/starter, copied to an empty folder: with the tarballs in place of the versions that its package.json names.

import { readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import getPort from 'get-port'
import semver from 'semver'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { parse } from 'yaml'
import { NODES, shell } from './quick-start.ts'
import { bodyOf, OWN, Starter } from './starter.ts'
import { readJson, run } from './tarball.ts'
import { ROOT } from './workspace-copy.ts'

interface Manifest {
  readonly scripts: Readonly<Record<string, string>>
  readonly dependencies: Readonly<Record<string, string>>
  readonly devDependencies: Readonly<Record<string, string>>
  readonly engines: { readonly node: string }
  readonly stackblitz: { readonly startCommand: string }
}

const source = join(ROOT, 'examples/starter')
const manifest = readJson(join(source, 'package.json')) as unknown as Manifest
const readme = readFileSync(join(source, 'README.md'), 'utf8')
const ranges = Object.entries({ ...manifest.dependencies, ...manifest.devDependencies })

/** The version of a package of this workspace on the registry, or the first one before that. */
const publishedVersion = (name: string): string => {
  const { version } = readJson(join(ROOT, 'packages', name, 'package.json')) as { version: string }
  return version === '0.0.0' ? '0.1.0' : version
}

describe('its package.json', () => {
  it.each(OWN)('accepts the published version of %s', (name) => {
    const range = Object.fromEntries(ranges)[name]!
    expect(range).toMatch(/^\^\d/)
    expect(semver.satisfies(publishedVersion(name), range)).toBe(true)
  })

  it('has the versions of this workspace of all other packages', () => {
    const { catalog } = parse(readFileSync(join(ROOT, 'pnpm-workspace.yaml'), 'utf8')) as {
      catalog: Readonly<Record<string, string>>
    }
    const others = ranges.filter(([name]) => !OWN.includes(name))
    expect(others).toEqual(others.map(([name]) => [name, catalog[name]]))
  })

  it('names the Node that the packages need', () => {
    const needed = OWN.map((name) => readJson(join(ROOT, 'packages', name, 'package.json'))['engines'])
    expect(needed).toEqual(OWN.map(() => manifest.engines))
  })
})

describe('the copy', () => {
  const starter = new Starter()
  const copy = starter.folder

  beforeAll(() => starter.install())
  afterAll(() => starter.remove())

  it('passes its tests on the lowest Node', async () => {
    const { code, output } = await run(copy, shell('npm test', NODES[22]))
    expect({ code, output }).toEqual({ code: 0, output: expect.stringMatching(/Tests +3 passed/) })
  })

  it('fails a test when a response changes', async () => {
    const file = join(copy, 'src/router.ts')
    const code = readFileSync(file, 'utf8')
    writeFileSync(file, code.replace('Hello', 'Goodbye'))
    const outcome = await run(copy, shell('npm test', NODES[24]))
    writeFileSync(file, code)
    expect(outcome).toMatchObject({ code: 1, output: expect.stringMatching(/Tests +1 failed \| 2 passed/) })
  })

  it('has right types', async () => {
    const { code, output } = await run(copy, shell('npm run typecheck', NODES[24]))
    expect({ code, output }).toEqual({ code: 0, output: expect.not.stringContaining('error TS') })
  })

  it('decides its speed bound', async () => {
    // Fewer and shorter rounds: the verdict depends on the machine.
    const brief = ', replicas: 2, duration: 50, budget: 5000, measurement: { cycles: 2, maxWarmUp: 100 }'
    const file = join(copy, 'test/speed.test.ts')
    const bound = readFileSync(file, 'utf8')
    writeFileSync(file, bound.replace('cases: { greet }', `$&${brief}`))
    const { output } = await run(copy, shell('npm run speed', NODES[24]))
    writeFileSync(file, bound)
    expect(output).toMatch(
      /Tests +1 passed|app to be at least 0\.5x plain-route .*, but the claim is (?:broken|inconclusive)/,
    )
  })

  /** WebContainers have no native binaries, so Node must not load one. */
  const start = (command: string, env: Readonly<Record<string, string>> = {}): void =>
    starter.start(command, { NODE_OPTIONS: '--no-addons', ...env })

  const DASHBOARD = {
    profile: { url: '/users/7', account: 9 },
    orders: { url: '/orders?user=7', account: 9 },
    invoices: { url: '/invoices/9', account: 9 },
  }
  const requests = [...readme.matchAll(/^curl '?http:\/\/localhost:3000([^'\n]+)'?$/gm)].map(([, path]) => path!)

  it('responds on StackBlitz to the requests of its README, and loads no native binary', async () => {
    const { startCommand } = manifest.stackblitz
    expect(manifest.scripts).toHaveProperty(startCommand.replace('npm run ', ''))
    const port = await getPort()
    start(startCommand, { PORT: String(port) })
    expect(requests).toHaveLength(2)
    const [greeting, dashboard] = [await bodyOf(port, requests[0]!), await bodyOf(port, requests[1]!)]
    expect(JSON.parse(greeting)).toEqual({ result: { data: { text: 'Hello Ada' } } })
    expect(JSON.parse(dashboard)).toEqual(DASHBOARD)
  })

  it('runs in several processes in production', async () => {
    const [port, services] = [await getPort(), await getPort()]
    const file = join(copy, 'src/start-services.ts')
    writeFileSync(file, readFileSync(file, 'utf8').replace('3001', String(services)))
    start('npm run services')
    start(`npm start -- --port ${port} --workers 2`, { SERVICES: `http://127.0.0.1:${services}` })
    await bodyOf(port, '/')
    expect(JSON.parse(await bodyOf(port, '/dashboard/7'))).toEqual(DASHBOARD)
    const { output } = await run(copy, shell('npx clustered-server status starter', NODES[24]))
    expect(output.match(/ active /g)).toHaveLength(2)
  })
})
