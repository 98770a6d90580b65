// Release folders as deployment tools make them: `releases/1`, `releases/2` and a link to one of them. Each release brings
// its own copy of this package.

import { execFileSync } from 'node:child_process'
import { cpSync, mkdirSync, mkdtempSync, realpathSync, rmSync, symlinkSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { onTestFinished } from 'vitest'
import { Command } from './command.ts'
import { eventually } from './eventually.ts'
import { childrenOf } from './running-server.ts'

const SOURCES = fileURLToPath(new URL('../../src', import.meta.url))
const DEPENDENCY = realpathSync(new URL('../../node_modules/checked-options', import.meta.url))
const ADDRESS = { workers: 2, port: 0, host: '127.0.0.1' }

/** Response of the app of a release. */
export interface Served {
  readonly release: number
  readonly cwd: string
  readonly pid: number
  readonly env: Readonly<Record<string, string>>
}

/** A folder with releases, until the test has ended. */
export class Deployment {
  readonly folder: string = realpathSync(mkdtempSync(join(tmpdir(), 'clustered-server-releases-')))
  readonly #extension: string
  readonly #name: string

  /** @param name of the link */
  constructor(extension: 'ts' | 'js' = 'ts', name = 'current') {
    this.#extension = extension
    this.#name = name
    onTestFinished(() => rmSync(this.folder, { recursive: true }))
    this.add(1)
    this.link(1)
  }

  /** Path within the folder. */
  path(...names: string[]): string {
    return join(this.folder, ...names)
  }

  /** Path within a release. */
  in(release: number, ...names: string[]): string {
    return this.path('releases', String(release), ...names)
  }

  /** Path by way of the link. */
  linked(...names: string[]): string {
    return this.path(this.#name, ...names)
  }

  /** Creates a release. Its app responds with its number. */
  add(release: number, files: Readonly<Record<string, string>> = {}): void {
    const lib = this.in(release, 'lib')
    cpSync(SOURCES, join(lib, 'src'), { recursive: true })
    mkdirSync(join(lib, 'node_modules'))
    symlinkSync(DEPENDENCY, join(lib, 'node_modules/checked-options'))
    const type = this.#extension === 'ts' ? ': any' : ''
    const all = {
      'package.json': JSON.stringify({ type: 'module', version: `${release}.0.0` }),
      REVISION: `${String(release).repeat(40)}\n`,
      '.env': `OF_FILE=${release}\n`,
      'setup.mjs': `process.env.OF_IMPORT = '${release}'\n`,
      [`app.${this.#extension}`]: `
        export default function app(request${type}, response${type}) {
          const { env, pid } = process
          response.setHeader('connection', 'close')
          response.end(JSON.stringify({ release: ${release}, cwd: process.cwd(), env, pid }))
        }`,
      [`server.${this.#extension}`]: `
        import { createClusteredServer } from './lib/src/index.ts'
        const at = (level${type}) => (about${type}, msg${type}) => process.stderr.write(JSON.stringify({ level, ...about, msg }) + '\\n')
        const logger = { info: at(30), warn: at(40), error: at(50) }
        const app = process.env.APP ?? new URL('./app.${this.#extension}', import.meta.url)
        await createClusteredServer(app, { ...${JSON.stringify(ADDRESS)}, logger })`,
      ...files,
    }
    for (const [name, text] of Object.entries(all)) writeFileSync(this.in(release, name), text)
  }

  /** Has the link lead to a release, by one step or by two. */
  link(release: number, isAtomic = false): void {
    const target = `releases/${release}`
    const run = (...command: [string, ...string[]]): unknown =>
      execFileSync(command[0], command.slice(1), { cwd: this.folder })
    if (!isAtomic) return void run('ln', '-sfn', target, this.#name)
    run('ln', '-s', target, 'next')
    run('mv', '-T', 'next', this.#name)
  }

  /** Deletes a release, as tools do with old ones. */
  prune(release: number): void {
    rmSync(this.in(release), { recursive: true })
  }

  /** Starts the script of a release that calls the factory. */
  script(path: string, cwd: string, env: NodeJS.ProcessEnv = {}, node: readonly string[] = []): Command {
    return this.#run([], path, cwd, env, node)
  }

  /** Starts the command of the first release, whose path has no link, as npx does. */
  command(args: readonly string[], cwd: string, env: NodeJS.ProcessEnv = {}): Command {
    const address = ['--workers', '2', '--port', '0', '--host', '127.0.0.1']
    return this.#run([...address, ...args], this.in(1, 'lib/src/cli/main.ts'), cwd, env)
  }

  #run(
    args: readonly string[],
    script: string,
    cwd: string,
    env: NodeJS.ProcessEnv,
    node: readonly string[] = [],
  ): Command {
    // Node is started without a shell, which would set PWD.
    const command = new Command(args, { HOST: undefined, PORT: undefined, PWD: undefined, ...env }, node, script, cwd)
    onTestFinished(() => command.end())
    return command
  }
}

/** Response of one of the workers. */
export async function served(command: Command): Promise<Served> {
  const { port } = await command.listening()
  return (await (await fetch(`http://127.0.0.1:${port}`)).json()) as Served
}

/** Reloads, and resolves with the line of the log. */
export async function reload(command: Command, generation = 2): Promise<object> {
  command.kill('SIGHUP')
  return command.logged(({ msg }) => msg.startsWith(`reloaded: generation ${generation} `))
}

/** Kills all workers at once, and resolves with the response of one that replaces them. */
export async function crash(command: Command): Promise<Served> {
  await command.listening()
  const before = childrenOf(command.child.pid!)
  for (const pid of before) process.kill(pid, 'SIGKILL')
  return eventually(async () => {
    const response = await served(command).catch(() => undefined)
    return response && !before.includes(response.pid) ? response : undefined
  })
}
