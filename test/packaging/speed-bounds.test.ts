// What people get: the tarball, in an empty project, and nothing of this workspace but its Node.

import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { createRequire } from 'node:module'
import { tmpdir } from 'node:os'
import { basename, delimiter, dirname, join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'

const ROOT = fileURLToPath(new URL('../../', import.meta.url))
const PACKAGE = join(ROOT, 'packages/speed-bounds')
const workspace = createRequire(import.meta.url)
/** The validator of the schema is a development dependency of the package. */
const ofPackage = createRequire(join(PACKAGE, 'package.json'))

interface Validator {
  validate: (schema: object, document: unknown) => boolean
  errorsText: () => string
}

/** What of the environment would tell a child that it runs within a test, a script or a job. */
const OURS =
  /^(VITEST|TEST$|TINYPOOL|NODE_ENV$|GITHUB_|INIT_CWD$|PNPM_PACKAGE_NAME$|npm_(lifecycle|package|command|config_local_prefix))/
const environment = {
  ...Object.fromEntries(Object.entries(process.env).filter(([name]) => !OURS.test(name))),
  // `npx` and `#!/usr/bin/env node` use this Node too, however old the one of the machine is.
  PATH: dirname(process.execPath) + delimiter + process.env['PATH'],
  NO_COLOR: '1',
  // Whoever runs these tests has installed; a nested pnpm must not start over.
  pnpm_config_verify_deps_before_run: 'false',
}

/** The pnpm that runs this script, or, when vitest was started by hand, what npx brings. */
function pnpm(): [string, ...string[]] {
  const runner = process.env['npm_execpath'] ?? ''
  if (!basename(runner).startsWith('pnpm')) return ['npx', '-y', 'pnpm@12']
  return /\.[cm]?js$/.test(runner) ? [process.execPath, runner] : [runner]
}

interface Outcome {
  code: number | null
  stdout: string
  /** stdout and stderr */
  output: string
}

async function run(cwd: string, program: string, ...args: string[]): Promise<Outcome> {
  const child = spawn(program, args, { cwd, env: environment, stdio: ['ignore', 'pipe', 'pipe'] })
  const outcome: Outcome = { code: null, stdout: '', output: '' }
  child.stdout.setEncoding('utf8').on('data', (text: string) => {
    outcome.stdout += text
    outcome.output += text
  })
  child.stderr.setEncoding('utf8').on('data', (text: string) => (outcome.output += text))
  ;[outcome.code] = (await once(child, 'close')) as [number | null]
  return outcome
}

/** Runs what has to succeed. */
async function demand(cwd: string, program: string, ...args: string[]): Promise<Outcome> {
  const outcome = await run(cwd, program, ...args)
  if (outcome.code !== 0) throw new Error(`${program} ${args.join(' ')} ended with ${outcome.code}:\n${outcome.output}`)
  return outcome
}

function readJson(path: string): Record<string, unknown> {
  return JSON.parse(readFileSync(path, 'utf8')) as Record<string, unknown>
}

/** A server that does next to nothing, or burns some 0.2 ms of CPU with each request. */
const server = (work: number): string => `
import { createServer } from 'node:http'
const server = createServer((request, response) => {
  let sum = 0
  for (let i = 0; i < ${work}; i++) sum += Math.sqrt(i)
  response.setHeader('content-type', 'text/plain')
  response.end(sum >= 0 ? 'ok' : 'never')
})
server.listen(process.env.PORT, process.env.HOST)
process.once('SIGTERM', () => { server.close(); server.closeAllConnections() })
`

/** Servers that are some ten times apart need no quiet machine to be told apart. */
const OPTIONS = "{ path: '/', replicas: 2, cycles: 2, duration: 50, warmUp: 100, maxForeignCpu: 1000 }"

const FILES = {
  'package.json': '{ "private": true, "type": "module" }\n',
  'quick.js': server(0),
  'slow.js': server(100_000),
  'right.test.ts': `
import { race } from 'speed-bounds'
import 'speed-bounds/vitest'
import { expect, it } from 'vitest'

const match = race({ quick: './quick.js', slow: './slow.js' }, ${OPTIONS})

it('answers alike', async () => {
  await expect(match).toAnswerAlike()
}, 100_000)

it('is faster', async () => {
  await expect(match).toOutpace('slow', { atLeast: 1.5, metric: 'cpu' })
}, 100_000)
`,
  'wrong.test.ts': `
import { race } from 'speed-bounds'
import 'speed-bounds/vitest'
import { expect, it } from 'vitest'

it('is faster, it is claimed', async () => {
  const match = race({ slow: './slow.js', quick: './quick.js' }, ${OPTIONS})
  await expect(match).toOutpace('quick', { atLeast: 1.5, metric: 'cpu' })
}, 100_000)
`,
  'types.ts': `
import { race, SpeedBoundsError, type Judgement, type RaceResult, type Verdict } from 'speed-bounds'
import 'speed-bounds/vitest'
import { expect } from 'vitest'

const match = race({ quick: './quick.js', slow: { command: ['./slow', '{port}'] } }, { path: '/' })
export const judgement: Judgement = await match.decide('slow', { atLeast: 1.5 })
export const verdict: Verdict = judgement.verdict
export const result: RaceResult = match.result()
export const code = (error: SpeedBoundsError): string => error.code

// @ts-expect-error A misspelt option is found by the compiler.
race({ quick: './quick.js', slow: './slow.js' }, { path: '/', conections: 5 })
// @ts-expect-error So is a claim that compares what cannot be compared.
await match.decide('slow', { atLeast: 1.5, metric: 'speed' })
// @ts-expect-error The matchers have types of their own.
await expect(match).toOutpace('slow', { atLeast: '1.5' })
await expect(match).not.toAnswerAlike()
`,
  'tsconfig.json': `{
  "compilerOptions": {
    "target": "es2024",
    "module": "nodenext",
    "strict": true,
    "exactOptionalPropertyTypes": true,
    "skipLibCheck": true,
    "noEmit": true,
    "types": ["node"]
  },
  "files": ["right.test.ts", "wrong.test.ts", "types.ts"]
}
`,
}

const folder = mkdtempSync(join(tmpdir(), 'speed-bounds-packaging-'))
const project = mkdtempSync(join(tmpdir(), 'speed-bounds-project-'))
const installed = join(project, 'node_modules/speed-bounds')
let tarball = ''

beforeAll(async () => {
  const [program, ...args] = pnpm()
  await demand(PACKAGE, program, ...args, 'pack', '--pack-destination', folder)
  tarball = join(
    folder,
    readdirSync(folder).find((name) => name.endsWith('.tgz'))!,
  )
  for (const [name, content] of Object.entries(FILES)) writeFileSync(join(project, name), content)
  const { version } = workspace('vitest/package.json') as { version: string }
  const { version: types } = ofPackage('@types/node/package.json') as { version: string }
  const packages = [tarball, `vitest@${version}`, `@types/node@${types}`]
  await demand(project, program, ...args, 'add', '--ignore-workspace', ...packages)
})

afterAll(() => {
  for (const path of [folder, project]) rmSync(path, { recursive: true })
})

const tool = (name: string): string => join(ROOT, 'test/node_modules/.bin', name)
const ofProject = (name: string): string => join(project, 'node_modules/.bin', name)

describe('the tarball', () => {
  it('has nothing that publint objects to', async () => {
    expect(await run(folder, tool('publint'), 'run', tarball, '--strict')).toMatchObject({ code: 0 })
  })

  it('has types that resolve from ES modules and from CommonJS', async () => {
    // CommonJS loads ES modules by require() on all versions of Node that the package supports.
    const ignored = ['--profile', 'node16', '--ignore-rules', 'cjs-resolves-to-esm']
    expect(await run(folder, tool('attw'), tarball, ...ignored)).toMatchObject({ code: 0 })
  })

  it('has the build of every source and nothing else', () => {
    const modules = readdirSync(join(PACKAGE, 'src'), { recursive: true, encoding: 'utf8' })
      .filter((path) => path.endsWith('.ts') && !path.endsWith('.d.ts'))
      .map((path) => join('dist', path.slice(0, -'.ts'.length)))
    const files = readdirSync(installed, { recursive: true, encoding: 'utf8', withFileTypes: true })
      .filter((entry) => entry.isFile() && !entry.parentPath.includes(join(installed, 'node_modules')))
      .map((entry) => join(entry.parentPath, entry.name).slice(installed.length + 1))
    const built = modules.flatMap((path) => [`${path}.js`, `${path}.d.ts`])
    const beside = ['LICENSE', 'README.md', 'package.json', 'result.schema.json']
    expect(files.toSorted()).toEqual([...built, ...beside].toSorted())
  })

  it('has no address of this workspace in its package.json', () => {
    const manifest = readFileSync(join(installed, 'package.json'), 'utf8')
    expect(manifest).not.toMatch(/catalog:|workspace:/)
    const { exports, bin, dependencies } = readJson(join(installed, 'package.json'))
    expect(JSON.stringify([exports, bin])).not.toContain('src/')
    expect(Object.keys(dependencies as object)).not.toEqual([])
  })
})

describe('in an empty project', () => {
  it.each([
    ['require()', "console.log(typeof require('speed-bounds').race)"],
    ['import', "import('speed-bounds').then(({ race }) => console.log(typeof race))"],
    ['a static import', "import { race } from 'speed-bounds'; console.log(typeof race)"],
  ])('%s gives race', async (_name, program) => {
    const type = program.startsWith('import {') ? 'module' : 'commonjs'
    const { code, output } = await run(project, process.execPath, `--input-type=${type}`, '-e', program)
    // No warning either.
    expect({ code, output }).toEqual({ code: 0, output: 'function\n' })
  })

  it("a claim that is right passes in the project's own vitest", async () => {
    const { code, output } = await run(project, ofProject('vitest'), 'run', 'right.test.ts')
    expect(output).toMatch(/Tests +2 passed/)
    expect(code).toBe(0)
  })

  it('a claim that is wrong fails, and says by how much', async () => {
    const { code, output } = await run(project, ofProject('vitest'), 'run', 'wrong.test.ts')
    expect(output).toContain('slow is at least 1.5x quick (GET /): broken')
    expect(output).toMatch(/CPU per request: 0\.\d+x/)
    expect(output).toMatch(/Tests +1 failed/)
    expect(code).toBe(1)
  })

  it('tsc accepts what uses the types, and finds mistakes', async () => {
    expect(await run(project, join(ROOT, 'node_modules/.bin/tsc'))).toEqual({ code: 0, stdout: '', output: '' })
  })

  it('tsc finds no error within the types themselves', async () => {
    const { output } = await run(project, join(ROOT, 'node_modules/.bin/tsc'), '--skipLibCheck', 'false', '--listFiles')
    const lines = output.split('\n')
    // It did look at them; and what other packages get wrong is not ours to judge.
    expect(lines.filter((line) => line.endsWith('speed-bounds/dist/index.d.ts'))).toHaveLength(1)
    expect(lines.filter((line) => line.includes('error TS') && line.includes('speed-bounds'))).toEqual([])
  })
})

describe('the command', () => {
  it('tells its version', async () => {
    const { version } = readJson(join(PACKAGE, 'package.json'))
    expect(await demand(project, 'npx', '--no-install', 'speed-bounds', '--version')).toMatchObject({
      stdout: `${version as string}\n`,
    })
  })

  it('races, and writes a document that its schema describes', async () => {
    const flags = [
      '--metric',
      'cpu',
      '--at-least',
      '1.5',
      '--replicas',
      '3',
      '--duration',
      '100',
      '--warm-up',
      '200',
      '--cycles',
      '3',
      '--json',
      'race.json',
    ]
    const { code, output } = await run(project, ofProject('speed-bounds'), 'race', 'quick.js', 'slow.js', ...flags)
    expect(output).toContain('quick is at least 1.5x slow (GET /): holds')
    expect(code).toBe(0)

    const { Ajv2020 } = ofPackage('ajv/dist/2020.js') as { Ajv2020: new (options: object) => Validator }
    const ajv = new Ajv2020({ allowUnionTypes: true })
    const document = readJson(join(project, 'race.json'))
    const valid = ajv.validate(readJson(join(installed, 'result.schema.json')), document)
    expect(valid ? '' : ajv.errorsText()).toBe('')
    expect(document).toMatchObject({ claims: [{ contender: 'quick', over: 'slow', verdict: 'holds' }] })
  })
})
