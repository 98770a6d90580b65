import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { chmodSync, mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { delimiter, join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { afterAll, describe, expect, it } from 'vitest'
import type { RaceResult } from '../../src/index.ts'
import { server } from '../helpers/servers.ts'

const cli = fileURLToPath(new URL('../../src/cli/main.ts', import.meta.url))
const folder = mkdtempSync(join(tmpdir(), 'speed-bounds-node-'))
afterAll(() => rmSync(folder, { recursive: true }))

/** An npm that knows some versions of Node 22, whose binaries are the Node of this test. It logs its calls. */
const log = join(folder, 'npm.log')
writeFileSync(
  join(folder, 'npm'),
  `#!${process.execPath}
const { appendFileSync, mkdirSync, writeFileSync, chmodSync } = require('node:fs')
const args = process.argv.slice(2)
appendFileSync(${JSON.stringify(log)}, args.join(' ') + '\\n')
const [name, version] = args.find((arg) => arg.startsWith('node-')).split('@')
if (args[0] === 'view') {
  if (version !== '22') { console.error('npm error code E404\\nnpm error 404 No match found for version ' + version); process.exit(1) }
  console.log('["22.2.0","22.10.0","22.1.0"]')
} else {
  const bin = args[args.indexOf('--prefix') + 1] + '/node_modules/' + name + '/bin'
  mkdirSync(bin, { recursive: true })
  writeFileSync(bin + '/node', '#!/bin/sh\\nif [ "$1" = --version ]; then echo v' + version + '; exit; fi\\nNODE_FAKE=' + version + ' exec ${process.execPath} "$@"\\n')
  chmodSync(bin + '/node', 0o755)
}
`,
)
chmodSync(join(folder, 'npm'), 0o755)

async function run(...args: string[]): Promise<{ code: number; stdout: string; stderr: string }> {
  const env = { ...process.env, PATH: folder + delimiter + process.env['PATH'], XDG_CACHE_HOME: join(folder, 'cache') }
  const child = spawn(process.execPath, [cli, ...args], { env, stdio: ['ignore', 'pipe', 'pipe'] })
  const outcome = { code: -1, stdout: '', stderr: '' }
  child.stdout.on('data', (text: Buffer) => (outcome.stdout += text.toString()))
  child.stderr.on('data', (text: Buffer) => (outcome.stderr += text.toString()))
  const [code] = (await once(child, 'close')) as [number]
  return { ...outcome, code }
}

const calls = (): string[] => readFileSync(log, 'utf8').trimEnd().split('\n')
const subject = server(`response.end('ok')`)
const SMALL = [
  ...['--replicas', '2', '--cycles', '1', '--stages', '1', '--duration', '50ms', '--max-warm-up', '100ms'],
  ...['--max-foreign-cpu', '64', '--metric', 'cpu'],
]

describe.skipIf(process.platform === 'win32')('--node', () => {
  it('races a script on the newest versions that npm has, and installs each once', async () => {
    const json = join(folder, 'result.json')
    const args = ['race', `server=${String(subject.file)}`, '--node', '22,22.1.0', ...SMALL, '--json', json]
    const { stderr, stdout } = await run(...args)
    expect(stderr).toContain('Node 22: looking for it')
    expect(stdout).toContain('server@node-22.10.0 is at least 1x server@node-22.1.0')
    const result = JSON.parse(readFileSync(json, 'utf8')) as RaceResult
    expect(result.subjects.map(({ name }) => name)).toEqual(['server@node-22.10.0', 'server@node-22.1.0'])
    // Results are shared: a subject has no path of this machine.
    expect(JSON.stringify(result.subjects)).not.toContain(folder)
    expect(calls().filter((call) => call.startsWith('install'))).toHaveLength(2)
    expect(calls().every((call) => call.startsWith('view') || call.includes('--ignore-scripts'))).toBe(true)

    // An error after the installs: nothing is raced.
    const before = calls().length
    await run('race', `server=${String(subject.file)}`, '--node', '22.1.0,22.10.0', '--path', 'x')
    expect(calls()).toHaveLength(before)
    expect(readdirSync(join(folder, 'cache', 'speed-bounds', 'node')).toSorted()).toEqual(['22.1.0', '22.10.0'])
  })

  it.each<[problem: string, args: string[], code: number, message: RegExp]>([
    [
      'a version that npm does not have',
      ['--node', '22,99'],
      4,
      /^SPEED_BOUNDS_NODE_NOT_INSTALLED: Node 99 could not be installed: npm failed: .*No match found for version 99\.$/m,
    ],
    ['a single version', ['--node', '22'], 2, /at least 2 subjects/],
  ])('rejects %s', async (_, args, code, message) => {
    const outcome = await run('race', `server=${String(subject.file)}`, ...args, ...SMALL)
    expect(outcome.stderr).toMatch(message)
    expect(outcome.code).toBe(code)
  })

  it('rejects a command line, which it cannot run on another Node', async () => {
    const { stderr, code } = await run('race', 'go=./server --listen {port}', '--node', '22,22.1.0', ...SMALL)
    expect(stderr).toMatch(/Invalid subject "go": expected a script with --node, got the command line/)
    expect(code).toBe(2)
  })
})
