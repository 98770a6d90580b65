import { execFileSync, spawnSync } from 'node:child_process'
import { chmodSync, globSync, mkdirSync, mkdtempSync, readFileSync, rmSync, symlinkSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { describe, expect, it, onTestFinished } from 'vitest'

const root = new URL('../../', import.meta.url).pathname

/** Runs a script of its own, where only these programs are on PATH. */
function outcomeOf(script: string, environment: Readonly<Record<string, string>>): { stdout: string; stderr: string } {
  const env = { PATH: '/nowhere', ...environment }
  const url = new URL('../required-program/required-program.ts', import.meta.url).href
  const code = `import { foundProgram, requireProgram } from '${url}'\n${script}`
  const { stdout, stderr } = spawnSync(process.execPath, ['--input-type=module', '--eval', code], {
    env,
    encoding: 'utf8',
  })
  return { stdout, stderr }
}

describe('a program that a test needs', () => {
  const ask = "console.log(requireProgram('no-such-program', 'no-such-package'))"

  it('is named with its package in one line when it is missing, and its tests are skipped', () => {
    const line = 'needs no-such-program: apt-get install no-such-package\n'
    expect(outcomeOf(ask, {})).toEqual({ stdout: 'false\n', stderr: line })
  })

  it('makes its tests fail with that line in CI', () => {
    const { stdout, stderr } = outcomeOf(ask, { CI: 'true' })
    expect(stdout).toBe('')
    expect(stderr).toContain('Error: needs no-such-program: apt-get install no-such-package\n')
  })

  it('may be one of several', () => {
    const script = "console.log(requireProgram(['no-such-program', 'node'], 'nodejs'), foundProgram(['none', 'node']))"
    const folder = folderWithNode()
    expect(outcomeOf(script, { PATH: folder })).toEqual({ stdout: 'true node\n', stderr: '' })
    const missing = outcomeOf("requireProgram(['a-server', 'b-server'], 'a')", { PATH: folder })
    expect(missing.stderr).toBe('needs a-server or b-server: apt-get install a\n')
  })

  it.runIf(process.platform === 'linux')(
    'is found in folders that PATH has for root only, also by what is started',
    () => {
      // Each Linux has some program there; a symbolic link may lead elsewhere.
      const [program] = execFileSync('ls', ['/usr/sbin'], { encoding: 'utf8' }).split('\n')
      const script = `console.log(requireProgram('${program}', 'any'), process.env.PATH)`
      expect(outcomeOf(script, { CI: 'true' }).stdout).toMatch(/^true \/nowhere:\/usr\/(local\/)?sbin\n$/)
    },
  )
})

function folderWithNode(): string {
  const folder = mkdtempSync(join(tmpdir(), 'programs-'))
  onTestFinished(() => rmSync(folder, { recursive: true }))
  symlinkSync(process.execPath, join(folder, 'node'))
  return folder
}

/** Programs of the list of `.ci/run`, and the Debian packages of each. */
const installed = [
  ...readFileSync(join(root, '.ci/run'), 'utf8').matchAll(
    /^command -v (\S+) > \/dev\/null \|\| missing\+=\(([^)]+)\)$/gm,
  ),
].map(([, program, debianPackages]) => ({ program: program!, debianPackages: debianPackages! }))

describe('.ci/run', () => {
  it('installs the programs that are missing, and no others', () => {
    const folder = mkdtempSync(join(tmpdir(), 'ci-'))
    onTestFinished(() => rmSync(folder, { recursive: true }))
    mkdirSync(join(folder, '.ci'))
    mkdirSync(join(folder, 'bin'))
    // As on a machine that has nothing but apt-get; what it is told is written down.
    const script = readFileSync(join(root, '.ci/run'), 'utf8')
      .replace(/^export PATH=.*$/m, '')
      .replaceAll(/^npx .*$/gm, '')
    writeFileSync(join(folder, '.ci/run'), script)
    for (const name of ['apt-get', 'sudo']) {
      writeFileSync(join(folder, 'bin', name), `#!/bin/bash\necho "$0 $*" >> ${join(folder, 'told')}\n`)
      chmodSync(join(folder, 'bin', name), 0o755)
    }
    for (const name of ['dirname', 'id'])
      symlinkSync(execFileSync('which', [name], { encoding: 'utf8' }).trim(), join(folder, 'bin', name))
    symlinkSync('/bin/true', join(folder, 'bin/haproxy'))
    execFileSync('/bin/bash', [join(folder, '.ci/run')], { env: { PATH: join(folder, 'bin') } })
    const packages = /install .*--no-install-recommends (.*)$/m
      .exec(readFileSync(join(folder, 'told'), 'utf8'))![1]!
      .split(' ')
    const others = installed
      .filter(({ program }) => program !== 'haproxy')
      .flatMap(({ debianPackages }) => debianPackages.split(' '))
    expect(packages.toSorted()).toEqual(others.toSorted())
    expect(packages).toContain('nginx')
  })

  it('has each program that a test requires', () => {
    const required = globSync('{packages/*/test,test/{live,docs,conformance,browser}}/**/*.ts', { cwd: root })
      .filter((path) => !path.endsWith('required-programs.test.ts'))
      .map((path) => readFileSync(join(root, path), 'utf8'))
      .flatMap((source) => [...source.matchAll(/requireProgram\((?:'([\w-]+)'|\w+), '([\w -]+)'\)/g)])
    expect(required.length).toBeGreaterThan(5)
    const packages = new Set(installed.map(({ debianPackages }) => debianPackages))
    expect(required.map(([, , debianPackages]) => debianPackages!).filter((name) => !packages.has(name))).toEqual([])
  })

  it('has no program that a test starts without requiring it', () => {
    const names = installed.map(({ program }) => program).join('|')
    const starts = new RegExp(`(?:spawn|spawnSync|execFile|execFileSync|run)\\('(?:${names})'|\\['(?:${names})'[,\\]]`)
    const files = globSync('{packages/*/test,test/{live,docs,conformance,browser}}/**/*.ts', { cwd: root })
    const starting = files.filter((path) => starts.test(readFileSync(join(root, path), 'utf8')))
    expect(starting.length).toBeGreaterThan(3)
    expect(
      starting.filter((path) => !readFileSync(join(root, path), 'utf8').includes('@test/required-program')),
    ).toEqual([])
  })
})
