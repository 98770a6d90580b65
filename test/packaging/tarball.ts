// What people get of a package: its tarball, in an empty project, and nothing of this workspace but its Node.

import { type ChildProcess, spawn } from 'node:child_process'
import { once } from 'node:events'
import { existsSync, mkdirSync, mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { createRequire } from 'node:module'
import { tmpdir } from 'node:os'
import { basename, delimiter, dirname, join } from 'node:path'
import { fileURLToPath } from 'node:url'

const ROOT = fileURLToPath(new URL('../../', import.meta.url))

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
export function pnpm(): [string, ...string[]] {
  const runner = process.env['npm_execpath'] ?? ''
  if (!basename(runner).startsWith('pnpm')) return ['npx', '-y', 'pnpm@12']
  return /\.[cm]?js$/.test(runner) ? [process.execPath, runner] : [runner]
}

export interface Outcome {
  code: number | null
  stdout: string
  /** stdout and stderr */
  output: string
}

/** Runs a program to its end; `onOutput` sees all that it has said so far, and may end it. */
export async function run(
  cwd: string,
  [program, ...args]: [string, ...string[]],
  onOutput?: (output: string, end: () => void, child: ChildProcess) => void,
): Promise<Outcome> {
  const child = spawn(program, args, { cwd, env: environment, stdio: ['ignore', 'pipe', 'pipe'] })
  const outcome: Outcome = { code: null, stdout: '', output: '' }
  const note = (text: string): void => {
    outcome.output += text
    onOutput?.(outcome.output, () => child.kill(), child)
  }
  child.stdout.setEncoding('utf8').on('data', (text: string) => {
    outcome.stdout += text
    note(text)
  })
  child.stderr.setEncoding('utf8').on('data', note)
  ;[outcome.code] = (await once(child, 'close')) as [number | null]
  return outcome
}

/** Runs what has to succeed. */
export async function demand(cwd: string, command: [string, ...string[]]): Promise<Outcome> {
  const outcome = await run(cwd, command)
  if (outcome.code !== 0) throw new Error(`${command.join(' ')} ended with ${outcome.code}:\n${outcome.output}`)
  return outcome
}

export function readJson(path: string): Record<string, unknown> {
  return JSON.parse(readFileSync(path, 'utf8')) as Record<string, unknown>
}

const filesIn = (folder: string, skipped?: string): string[] =>
  readdirSync(folder, { recursive: true, encoding: 'utf8', withFileTypes: true })
    .filter((entry) => entry.isFile() && (skipped === undefined || !entry.parentPath.startsWith(join(folder, skipped))))
    .map((entry) => join(entry.parentPath, entry.name).slice(folder.length + 1))

/** Packages of this workspace that a package needs at run time. */
function workspaceDependencies(name: string): string[] {
  const { dependencies = {} } = readJson(join(ROOT, 'packages', name, 'package.json')) as {
    dependencies?: Record<string, string>
  }
  return Object.keys(dependencies).filter((one) => dependencies[one]!.startsWith('workspace:'))
}

/** Packs packages of this workspace and those of it that they depend on, each once. Returns the paths of the tarballs. */
export async function packAll(names: readonly string[], folder: string): Promise<string[]> {
  const all = new Set(names.flatMap((name) => [name, ...workspaceDependencies(name)]))
  for (const name of all) await demand(join(ROOT, 'packages', name), [...pnpm(), 'pack', '--pack-destination', folder])
  return [...all].map((name) => pathIn(folder, name))
}

function pathIn(folder: string, name: string): string {
  const { version } = readJson(join(ROOT, 'packages', name, 'package.json')) as { version: string }
  return join(folder, `${name}-${version}.tgz`)
}

/** The configuration of a project whose compiler is as strict as it can be about our types. */
export function tsconfig(files: readonly string[]): string {
  const compilerOptions = {
    target: 'es2024',
    module: 'nodenext',
    strict: true,
    exactOptionalPropertyTypes: true,
    allowImportingTsExtensions: true,
    skipLibCheck: true,
    noEmit: true,
    types: ['node'],
  }
  return JSON.stringify({ compilerOptions, files }, null, 2)
}

/** A package of this workspace, packed, and an empty project that has it installed. */
export class Tarball {
  readonly name: string
  readonly source: string
  readonly project: string
  /** Where the package is in the project. */
  readonly installed: string
  readonly #folder: string

  constructor(name: string) {
    this.name = name
    this.source = join(ROOT, 'packages', name)
    this.#folder = mkdtempSync(join(tmpdir(), `${name}-packaging-`))
    this.project = mkdtempSync(join(tmpdir(), `${name}-project-`))
    this.installed = join(this.project, 'node_modules', name)
  }

  /** Packs the package and those of this workspace that it depends on. Returns the paths of the tarballs, its own first. */
  pack(): Promise<string[]> {
    return packAll([this.name], this.#folder)
  }

  /**
   * Packs, and installs beside the packages that are named: in the version that stands behind an `@`, or in the one that
   * the package is developed with.
   */
  async install(files: Readonly<Record<string, string>>, packages: readonly string[]): Promise<void> {
    const [own, ...others] = await this.pack()
    for (const [name, content] of Object.entries(files)) {
      const path = join(this.project, name)
      mkdirSync(dirname(path), { recursive: true })
      writeFileSync(path, content)
    }
    const versions = packages.map((name) =>
      name.includes('@', 1) ? name : `${name}@${readJson(this.#developedWith(name))['version'] as string}`,
    )
    // Packages of this workspace may be on no registry.
    const overrides = Object.fromEntries(workspaceDependencies(this.name).map((name, index) => [name, others[index]]))
    // No dependency needs its build scripts, and pnpm would fail because it skips them.
    const settings = { packages: ['.'], overrides, strictDepBuilds: false }
    writeFileSync(join(this.project, 'pnpm-workspace.yaml'), `${JSON.stringify(settings)}\n`)
    await demand(this.project, [...pnpm(), 'add', '--workspace-root', own!, ...versions])
  }

  remove(): void {
    for (const path of [this.#folder, this.project]) rmSync(path, { recursive: true })
  }

  /** What publint says. */
  publint(): Promise<Outcome> {
    return run(this.#folder, [tool('publint'), 'run', this.#path, '--strict'])
  }

  /** What "are the types wrong" says. */
  attw(): Promise<Outcome> {
    // CommonJS loads ES modules by require() on all versions of Node that the packages support.
    return run(this.#folder, [tool('attw'), this.#path, '--profile', 'node16', '--ignore-rules', 'cjs-resolves-to-esm'])
  }

  /** What the compiler of this workspace says of the project. */
  tsc(...flags: string[]): Promise<Outcome> {
    return run(this.project, [join(ROOT, 'node_modules/.bin/tsc'), ...flags])
  }

  /** Lines that the compiler says of the types of the package; what other packages get wrong is not ours to judge. */
  async errorsInTypes(): Promise<string[]> {
    const { output } = await this.tsc('--skipLibCheck', 'false', '--listFiles')
    const lines = output.split('\n')
    const name = basename(this.source)
    if (!lines.some((line) => line.endsWith(`${name}/dist/index.d.ts`)))
      throw new Error(`No types of ${name}:\n${output}`)
    return lines.filter((line) => line.includes('error TS') && line.includes(`${name}/dist`))
  }

  /** The files that are installed. */
  get files(): string[] {
    return filesIn(this.installed, 'node_modules').toSorted()
  }

  /** The files that the sources are built to. */
  get built(): string[] {
    return filesIn(join(this.source, 'src'))
      .filter((path) => path.endsWith('.ts') && !path.endsWith('.d.ts'))
      .map((path) => join('dist', path.slice(0, -'.ts'.length)))
      .flatMap((path) => [`${path}.js`, `${path}.d.ts`])
  }

  /** Path of a program that the project has. */
  program(name: string): string {
    return join(this.project, 'node_modules/.bin', name)
  }

  get #path(): string {
    return pathIn(this.#folder, this.name)
  }

  /** Path of the package.json of a dependency; not all packages export theirs. */
  #developedWith(name: string): string {
    const folders = createRequire(join(this.source, 'package.json')).resolve.paths(name)!
    const paths = folders.map((folder) => join(folder, name, 'package.json'))
    return paths.find((path) => existsSync(path))!
  }
}

const tool = (name: string): string => join(ROOT, 'test/node_modules/.bin', name)
