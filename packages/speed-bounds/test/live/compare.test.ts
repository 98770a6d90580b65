import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { mkdtempSync, readdirSync, readFileSync, realpathSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'
import { fileURLToPath } from 'node:url'
import { afterAll, afterEach, expect, it } from 'vitest'
import type { Comparison } from '../../src/compare/comparison.ts'
import { type FixtureRepository, fixtureRepository } from '../helpers/fixture-repository.ts'
import { processesWith, spin } from '../helpers/servers.ts'

const cli = fileURLToPath(new URL('../../src/cli/main.ts', import.meta.url))
const temporary = realpathSync(mkdtempSync(join(tmpdir(), 'speed-bounds-compared-')))
afterAll(() => rmSync(temporary, { recursive: true, force: true }))

const server = (work: string): string => `
import { createServer } from 'node:http'
const server = createServer((_, response) => { ${work} response.end('ok') })
server.listen(process.env.PORT, process.env.HOST)
process.on('SIGTERM', () => process.exit(0))`

const config = (more: object = {}): string =>
  JSON.stringify({
    ...{ subjects: { server: './server.mjs' }, path: '/', replicas: 2, duration: 100 },
    measurement: { cycles: 2, maxWarmUp: 100, maxForeignCpu: 64 },
    ...more,
  })

interface Outcome {
  code: number | null
  stdout: string
  stderr: string
}

function start(
  repository: FixtureRepository,
  args: string[],
  TMPDIR = temporary,
): { runner: ReturnType<typeof spawn>; ended: Promise<Outcome> } {
  const runner = spawn(process.execPath, [cli, 'compare', ...args], {
    cwd: repository.folder,
    env: { ...process.env, TMPDIR },
    stdio: ['ignore', 'pipe', 'pipe'],
  })
  const outcome: Outcome = { code: null, stdout: '', stderr: '' }
  runner.stdout.on('data', (text: Buffer) => (outcome.stdout += text.toString()))
  runner.stderr.on('data', (text: Buffer) => (outcome.stderr += text.toString()))
  return {
    runner,
    ended: once(runner, 'close').then(([code]: (number | null)[]) => ({ ...outcome, code: code ?? null })),
  }
}

const compare = (repository: FixtureRepository, ...args: string[]): Promise<Outcome> => start(repository, args).ended

let current: FixtureRepository | undefined
function repositoryWith(files: Record<string, string>): FixtureRepository {
  current = fixtureRepository()
  current.commit({ 'speed-bounds.config.json': config(), 'server.mjs': server(''), ...files })
  return current
}

/** Worktrees that git knows, temporary folders and processes. */
const left = (repository: FixtureRepository): (string | number)[] => [
  ...repository.git('worktree', 'list', '--porcelain').split('\n\n').slice(1),
  // npm leaves its own cache of compiled code.
  ...readdirSync(temporary).filter((name) => name.startsWith('speed-bounds-')),
  ...processesWith(temporary),
]

/** The helper process needs a moment to remove everything. */
async function untilAllGone(repository: FixtureRepository): Promise<(string | number)[]> {
  for (let tries = 0; tries < 400 && left(repository).length > 0; tries++) await sleep(50)
  return left(repository)
}

afterEach(async () => {
  const remains = await untilAllGone(current!)
  if (remains.length > 0) throw new Error(`left behind: ${remains.join(', ')}`)
}, 60_000)

it('finds a working tree that is slower, with Markdown, JSON and exit code 1', async () => {
  const repository = repositoryWith({})
  repository.write({ 'server.mjs': server(spin(2000)) })
  const json = join(repository.folder, '..', `${process.pid}-comparison.json`)
  const files = ['--json', json, '--markdown', json.replace('.json', '.md')]
  const { code, stdout, stderr } = await compare(repository, 'main', '--fail-if-slower', '5%', ...files)
  expect(stderr).toMatch(/^main: checkout of [0-9a-f]{12}\nworking tree: checkout/)
  expect(stdout).toMatch(/^server, GET \/: slower$/m)
  expect(stdout).toMatch(/^ {2}0\.\d+x \(0\.\d+x to 0\.\d+x, 99\.\d+ % interval\)$/m)
  expect(code).toBe(1)
  const { cases, base, head, races } = JSON.parse(readFileSync(json, 'utf8')) as Comparison
  expect(cases).toMatchObject([{ subject: 'server', case: 'GET /', verdict: 'slower', gate: 'broken' }])
  expect([base.ref, head.ref, Object.keys(races)]).toEqual(['main', 'working tree', ['server']])
  expect(readFileSync(json.replace('.json', '.md'), 'utf8')).toContain('| server  | GET / |')
  for (const file of files.filter((name) => name.startsWith('/'))) rmSync(file)
})

it('finds a commit that is faster, after an install and a build of each', async () => {
  const repository = repositoryWith({
    'speed-bounds.config.json': config({
      subjects: { server: './built.mjs' },
      install: 'node -e "fs.mkdirSync(\'node_modules\')"',
      build: 'test -d node_modules && cp server.mjs built.mjs',
    }),
    'server.mjs': server(spin(2000)),
    '.gitignore': 'built.mjs\nnode_modules\n',
  })
  repository.commit({ 'server.mjs': server('') })
  const { code, stdout } = await compare(repository, 'HEAD~1', 'HEAD', '--fail-if-slower', '5%')
  expect(stdout).toMatch(/^server, GET \/: faster$/m)
  expect(code).toBe(0)
})

it.each<[problem: string, files: Record<string, string>, args: string[], code: number, message: RegExp]>([
  ['a ref that does not exist', {}, ['nowhere'], 2, /^SPEED_BOUNDS_UNKNOWN_REF: There is no commit "nowhere": .*\n$/],
  ['a ref that is an option', {}, ['--', '--help'], 2, /^SPEED_BOUNDS_UNKNOWN_REF: Invalid ref "--help": .*\n$/],
  ['a bare number', {}, ['main', '--fail-if-slower', '5'], 2, /Expected a percentage above 0%, such as 5%\./],
  [
    'an unknown subject',
    {},
    ['main', '--subject', 'x'],
    2,
    /^SPEED_BOUNDS_INVALID_OPTION: Invalid option "subject": expected one of server, got "x"\.\n$/,
  ],
  [
    'an invalid option of the race, before any checkout',
    { 'speed-bounds.config.json': config({ path: 'x' }) },
    ['main'],
    2,
    /^SPEED_BOUNDS_INVALID_OPTION: Invalid option "path": .*\n$/,
  ],
  [
    'dependencies without a lockfile',
    { 'package.json': '{ "dependencies": { "fastify": "5" } }' },
    ['main'],
    4,
    /SPEED_BOUNDS_INSTALL_FAILED: main has dependencies and no lockfile: commit a lockfile .*\n$/,
  ],
  [
    'a lockfile that does not match package.json',
    {
      'package.json': '{ "name": "a", "version": "1.0.0", "dependencies": { "fastify": "5" } }',
      'package-lock.json':
        '{ "name": "a", "version": "1.0.0", "lockfileVersion": 3, "packages": { "": { "name": "a", "version": "1.0.0" } } }',
    },
    ['main'],
    4,
    /SPEED_BOUNDS_INSTALL_FAILED: package-lock\.json of main does not match its package\.json: run npm install and commit [^]*Missing: fastify@.* from lock file/,
  ],
  [
    'an install that fails',
    { 'speed-bounds.config.json': config({ install: 'echo no network >&2; exit 7' }) },
    ['main'],
    4,
    /SPEED_BOUNDS_INSTALL_FAILED: The install of main failed \(echo .*: exit code 7\): correct it, .*\n {2}\| no network\n$/,
  ],
  [
    'a build that fails',
    { 'speed-bounds.config.json': config({ build: 'echo TS2304; exit 2' }) },
    ['main'],
    4,
    /SPEED_BOUNDS_BUILD_FAILED: The build of main failed \(echo .*: exit code 2\): .*\n {2}\| TS2304\n$/,
  ],
])('reports %s', async (_, files, args, code, message) => {
  const outcome = await compare(repositoryWith(files), ...args)
  expect(outcome.stderr).toMatch(message)
  expect(outcome).toMatchObject({ code, stdout: '' })
})

it('reports a temporary folder in which it can create nothing', async () => {
  const repository = repositoryWith({})
  const { code, stderr } = await start(repository, ['main'], join(temporary, 'nowhere')).ended
  expect(stderr).toMatch(
    /^SPEED_BOUNDS_CHECKOUT_FAILED: Cannot create a temporary folder \(ENOENT: .*nowhere.*\): set TMPDIR to a folder that you can write to\.\n$/,
  )
  expect(code).toBe(4)
})

it('reports a subject that exists in one ref only', async () => {
  const repository = repositoryWith({})
  repository.commit({ 'other.mjs': server(''), 'speed-bounds.config.json': config({ subjects: { o: 'other.mjs' } }) })
  const { code, stderr } = await compare(repository, 'HEAD~1')
  expect(stderr).toContain(
    'SPEED_BOUNDS_SUBJECT_MISSING: other.mjs of subject "o" exists in one ref only, not in HEAD~1: commit it to both refs',
  )
  expect(code).toBe(4)
})

it('reports a server that dies at one ref', async () => {
  const repository = repositoryWith({})
  repository.write({ 'server.mjs': 'throw new Error("no database")' })
  const { code, stderr } = await compare(repository, 'main')
  expect(stderr).toMatch(/SPEED_BOUNDS_SUBJECT_NOT_STARTED: server@working tree \(.*\) ended with code 1\./)
  expect(stderr).toContain('no database')
  expect(code).toBe(4)
})

it.each<[signal: NodeJS.Signals, moment: string, code: number | null]>([
  ['SIGINT', 'sleep 60', 130],
  ['SIGTERM', 'measuring', 130],
  ['SIGKILL', 'sleep 60', null],
  ['SIGKILL', 'measuring', null],
])('leaves nothing behind after %s while it says "%s"', async (signal, moment, code) => {
  const install = moment === 'measuring' ? false : `${moment} # ${temporary}`
  const repository = repositoryWith({
    'speed-bounds.config.json': config({ install, measurement: { cycles: 1000, maxWarmUp: 100 } }),
  })
  const { runner, ended } = start(repository, ['main'])
  runner.stderr!.on('data', (text: Buffer) => {
    if (text.includes(moment)) runner.kill(signal)
  })
  expect((await ended).code).toBe(code)
})
