import { type ChildProcess, spawn } from 'node:child_process'
import { once } from 'node:events'
import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { eventually } from './eventually.ts'

/** The file of the command. */
export const CLI: string = fileURLToPath(new URL('../../src/cli/main.ts', import.meta.url))

/** Directory of the control sockets of a test file, which finds no services of others. */
export const RUNTIME_DIRECTORY: string = mkdtempSync(join(tmpdir(), 'clustered-server-'))
process.once('exit', () => rmSync(RUNTIME_DIRECTORY, { recursive: true, force: true }))

/** A line of its log. */
export interface LogLine {
  readonly level: number
  readonly pid: number
  readonly msg: string
  readonly worker?: number
  readonly port?: number
  readonly admin?: { readonly port: number; readonly agentPort?: number }
}

/** Path of an app of the tests. */
export function appPath(name: string): string {
  return fileURLToPath(new URL(`../fixtures/apps/${name}.ts`, import.meta.url))
}

/** The command `clustered-server`, as it runs. */
export class Command {
  readonly child: ChildProcess
  stdout = ''
  stderr = ''
  /** Resolves with its exit code. */
  readonly exit: Promise<number | null>

  /**
   * @param parent what starts it, before the command line of Node
   * @param cli the file of the command, if not that of the sources here
   * @param cwd the working directory
   */
  constructor(
    args: readonly string[],
    env: NodeJS.ProcessEnv = {},
    parent: readonly string[] = [],
    cli = CLI,
    cwd?: string,
  ) {
    const [file, ...rest] = [...parent, process.execPath, cli, ...args]
    const options = {
      env: { ...process.env, CLUSTERED_SERVER_RUNTIME_DIR: RUNTIME_DIRECTORY, ...env },
      ...(cwd !== undefined && { cwd }),
    }
    this.child = spawn(file!, rest, { ...options, stdio: ['ignore', 'pipe', 'pipe'] })
    this.child.stdout!.setEncoding('utf8').on('data', (text: string) => (this.stdout += text))
    this.child.stderr!.setEncoding('utf8').on('data', (text: string) => (this.stderr += text))
    this.exit = once(this.child, 'close').then(([code]) => code as number | null)
  }

  /** What it has logged. */
  get log(): LogLine[] {
    const lines = this.stderr.split('\n').filter((line) => line.startsWith('{'))
    return lines.map((line) => JSON.parse(line) as LogLine)
  }

  /** Resolves with the first line of its log that is as wanted. */
  logged(isWanted: (line: LogLine) => boolean): Promise<LogLine> {
    return eventually(() => this.log.find(isWanted))
  }

  /** Resolves with what it says when it listens. */
  listening(): Promise<LogLine> {
    return this.logged(({ msg }) => msg.startsWith('listening on'))
  }

  kill(signal: NodeJS.Signals): void {
    this.child.kill(signal)
  }

  /** Ends it, and its workers by that, if it is still there. */
  async end(): Promise<void> {
    this.child.kill('SIGKILL')
    await this.exit
  }
}
