// A project of a user: a folder with an app and configuration files, in which the command runs.

import { copyFileSync, mkdtempSync, realpathSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { onTestFinished } from 'vitest'
import { appPath, CLI, Command } from './command.ts'

/** Response of the app of a project. */
export interface Environment {
  readonly env: Readonly<Record<string, string>>
  readonly args: readonly string[]
  readonly execArgv: readonly string[]
  readonly cwd: string
  readonly pid: number
}

/** A folder that ends with the test. */
export class Project {
  readonly folder: string = realpathSync(mkdtempSync(join(tmpdir(), 'clustered-server-')))

  /** Its app, `app.ts`, responds with its environment. */
  constructor(files: Readonly<Record<string, string>> = {}) {
    onTestFinished(() => rmSync(this.folder, { recursive: true }))
    copyFileSync(appPath('environment'), this.path('app.ts'))
    for (const [name, text] of Object.entries(files)) this.write(name, text)
  }

  path(name: string): string {
    return join(this.folder, name)
  }

  write(name: string, text: string): void {
    writeFileSync(this.path(name), text)
  }

  /** Runs the command in the folder. */
  run(args: readonly string[], env: NodeJS.ProcessEnv = {}, parent: readonly string[] = []): Command {
    const command = new Command(args, { HOST: '', PORT: '', ...env }, parent, CLI, this.folder)
    onTestFinished(() => command.end())
    return command
  }
}

/** The environment of a worker of a command that listens. */
export async function environmentOf(command: Command): Promise<Environment> {
  const { port } = await command.listening()
  return (await (await fetch(`http://127.0.0.1:${port}`)).json()) as Environment
}
