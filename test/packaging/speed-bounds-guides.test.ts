// The guides that lead to speed-bounds, in an empty folder with its tarball. Rounds are fewer and shorter than in the guides,
// because verdicts depend on the machine.

import { cpSync, mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { basename, join } from 'node:path'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { parse } from 'yaml'
import { readGuide } from './guide.ts'
import { NODES, shell, writeFiles } from './quick-start.ts'
import { demand, readJson, run, Tarball } from './tarball.ts'

const BRIEF = { replicas: 2, duration: 50, budget: 5000, measurement: { cycles: 2, maxWarmUp: 100 } }

const tarball = new Tarball('speed-bounds')
let paths: readonly string[] = []
beforeAll(async () => {
  paths = await tarball.pack()
})
afterAll(() => tarball.remove())

/** An empty folder after the first commands of a guide. */
async function begin(folder: string, commands: string): Promise<void> {
  // In the project, where each checkout of it finds them too.
  mkdirSync(join(folder, 'tarballs'))
  for (const path of paths) cpSync(path, join(folder, 'tarballs', basename(path)))
  const local = paths.map((path) => `./tarballs/${basename(path)}`).join(' ')
  const quiet = 'npm_config_audit=false npm_config_fund=false'
  const install = commands.replace(/(--save-dev .*)\bspeed-bounds\b/, `$1${local}`)
  await demand(folder, shell(`export ${quiet}\n${install}`, NODES[24]))
}

describe('the guide performance-budget', () => {
  const { project } = tarball
  let commands: readonly string[]
  let blocks: Awaited<ReturnType<typeof readGuide>>['blocks']
  let workflow: { jobs: { compare: { steps: { with?: Record<string, unknown>; uses?: string }[] } } }

  beforeAll(async () => {
    ;({ commands, blocks } = await readGuide('performance-budget'))
    workflow = parse(blocks.find(({ language }) => language === 'yaml')!.code) as never
    await begin(project, commands[0]!)
  })

  it('finds the slower case of its change', async () => {
    const [before, after] = blocks.filter(({ code }) => code.startsWith('// server.js')).map(({ code }) => code)
    const config = JSON.parse(blocks.find(({ language }) => language === 'json')!.code) as object
    writeFiles(project, {
      'server.js': before!,
      'speed-bounds.config.json': JSON.stringify({ ...config, ...BRIEF }),
    })
    const identity = ['NAME', 'EMAIL'].flatMap((part) => ['AUTHOR', 'COMMITTER'].map((of) => `GIT_${of}_${part}=guide`))
    await demand(project, shell(`export ${identity.join(' ')}\n${commands[1]}`, NODES[24]))
    writeFileSync(join(project, 'server.js'), after!)
    const { code, output } = await run(project, shell(commands[2]!, NODES[24]))
    // 1: slower. 3: other programs kept the machine busy.
    const outcomes: Readonly<Record<string, RegExp>> = { 1: /search.*slower/, 3: /search.*inconclusive/ }
    expect({ code, output }).toEqual({
      code: expect.toBeOneOf([1, 3]),
      output: expect.stringMatching(outcomes[String(code)] ?? /slower/),
    })
  })

  it('has a workflow that names its configuration, and the inputs of the action', () => {
    const step = workflow.jobs.compare.steps.at(-1)!
    expect(step.uses).toBe('./node_modules/speed-bounds/action')
    const action = parse(readFileSync(join(tarball.installed, 'action/action.yml'), 'utf8')) as { inputs: object }
    expect(Object.keys(action.inputs)).toEqual(expect.arrayContaining(Object.keys(step.with!)))
    expect(step.with).toMatchObject({ config: 'speed-bounds.config.json', 'fail-if-slower': '5%' })
  })

  it('has the workflow of the reference, with its configuration', () => {
    const reference = readFileSync(join(tarball.source, 'docs/compare.md'), 'utf8')
    const [yaml] = [...reference.matchAll(/^```yaml\n(name: Speed[\s\S]*?)^```$/gm)].map(([, code]) => code!)
    const expected = parse(yaml!) as typeof workflow
    expected.jobs.compare.steps.at(-1)!.with!['config'] = 'speed-bounds.config.json'
    expect(workflow).toEqual(expected)
  })
})

describe('the guide writing-a-suite', () => {
  const project = mkdtempSync(join(tmpdir(), 'suite-'))
  const vitest = async (command: string): Promise<{ code: number | null; output: string }> => {
    const { code, output } = await run(project, shell(command, NODES[24]))
    return { code, output }
  }
  let commands: readonly string[]

  beforeAll(async () => {
    const guide = await readGuide('writing-a-suite')
    commands = guide.commands
    await begin(project, commands[0]!)
    writeFiles(project, guide.files)
  })
  afterAll(() => rmSync(project, { recursive: true }))

  it('proves that its servers respond the same', async () => {
    expect(await vitest(commands[1]!)).toEqual({ code: 0, output: expect.stringMatching(/Tests +1 passed/) })
  })

  it('fails when a server responds differently', async () => {
    const file = join(project, 'servers/node-http.js')
    const code = readFileSync(file, 'utf8')
    writeFileSync(file, code.replace('hello:', 'bye:'))
    const outcome = await vitest(commands[1]!)
    writeFileSync(file, code)
    expect(outcome).toEqual({ code: 1, output: expect.stringContaining('node-http') })
  })

  it('decides its claims and writes its results', async () => {
    const file = join(project, 'speed.test.js')
    const suite = readFileSync(file, 'utf8')
    writeFileSync(file, suite.replace('{ cases }', `{ cases, ...${JSON.stringify(BRIEF)} }`))
    const { output } = await vitest(commands[2]!)
    expect(output).toMatch(/Tests +.*\(2\)/)
    const { claims } = readJson(join(project, 'results.json')) as { claims: { atLeast: number; verdict: string }[] }
    expect(claims.map(({ atLeast }) => atLeast)).toEqual([0.5, 10])
    expect(claims.map(({ verdict }) => verdict)).not.toContain('')
    const { stdout } = await demand(project, shell('npx speed-bounds report results.json', NODES[24]))
    expect(stdout).toContain('node-http')
    expect(readFileSync(join(project, 'results.md'), 'utf8')).toContain('node-http')
  })
})
