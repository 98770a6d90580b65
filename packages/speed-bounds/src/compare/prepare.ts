import { join, relative } from 'node:path'
import type { Config } from '../config/read-config.ts'
import { errorCodes } from '../errors.ts'
import { quoteOutput } from '../quote-output.ts'
import { shortHash } from './comparison.ts'
import { frozenInstall } from './package-manager.ts'
import type { Ref } from './resolve-ref.ts'
import { copyChanges } from './working-tree.ts'
import type { CommandEnd, Workspace } from './workspace.ts'

/** Output of package managers when package.json and lockfile differ. */
const OUTDATED_LOCKFILE = /in sync|OUTDATED_LOCKFILE|lockfile needs to be updated|lockfile would have been/i

/** Called at the start of each step, such as `main: npm ci`. */
export type OnStep = (text: string) => void

/** Checks a ref out into a worktree, installs its dependencies and builds it. Returns the folder. */
export async function prepare(
  workspace: Workspace,
  repository: string,
  ref: Ref,
  { name, config, onStep }: { name: string; config: Config; onStep: OnStep },
): Promise<string> {
  onStep(`${ref.name}: checkout of ${shortHash(ref.commit)}`)
  const checkout = join(workspace.folder, name)
  // Hooks of the repository are for its users.
  const noHooks = ['-c', `core.hooksPath=${join(workspace.folder, 'no-hooks')}`]
  const added = ['worktree', 'add', '--quiet', '--detach', checkout, ref.commit]
  const end = await workspace.run(repository, 'git', ...noHooks, ...added)
  if (end.status !== undefined) {
    throw new errorCodes.SPEED_BOUNDS_CHECKOUT_FAILED(
      `git cannot check out ${ref.name} (${end.status}): make space in the temporary folder, or set TMPDIR.${quoteOutput(end.output)}`,
    )
  }
  if (ref.isWorkingTree) await copyChanges(repository, checkout)
  const directory = join(checkout, relative(repository, config.directory))
  await install(workspace, ref, { checkout, directory, config, onStep })
  if (config.build !== undefined) await build(workspace, ref, { directory, commandLine: config.build, onStep })
  return checkout
}

async function install(
  workspace: Workspace,
  ref: Ref,
  { checkout, directory, config, onStep }: { checkout: string; directory: string; config: Config; onStep: OnStep },
): Promise<void> {
  if (config.install === false) return
  if (config.install !== undefined) {
    onStep(`${ref.name}: ${config.install}`)
    return assertInstalled(await workspace.runLine(directory, config.install), ref, config.install)
  }
  const frozen = frozenInstall(directory, checkout, ref.name)
  if (frozen === undefined) return
  const line = frozen.command.join(' ')
  onStep(`${ref.name}: ${line}`)
  const [program, ...args] = frozen.command
  // On Windows, package managers are scripts that only a shell runs. All words are constants.
  const end =
    process.platform === 'win32'
      ? await workspace.runLine(frozen.directory, line)
      : await workspace.run(frozen.directory, program, ...args)
  if (end.status !== undefined && OUTDATED_LOCKFILE.test(end.output)) {
    throw new errorCodes.SPEED_BOUNDS_INSTALL_FAILED(
      `${frozen.lockfile} of ${ref.name} does not match its package.json: run ${program} install and commit ${frozen.lockfile}.${quoteOutput(end.output, OUTDATED_LOCKFILE)}`,
    )
  }
  if (end.status?.includes('ENOENT')) {
    throw new errorCodes.SPEED_BOUNDS_INSTALL_FAILED(
      `${ref.name} has ${frozen.lockfile}, and ${program} is not on PATH: install ${program}, or set "install" in the configuration.`,
    )
  }
  assertInstalled(end, ref, line)
}

function assertInstalled(end: CommandEnd, ref: Ref, line: string): void {
  if (end.status === undefined) return
  throw new errorCodes.SPEED_BOUNDS_INSTALL_FAILED(
    `The install of ${ref.name} failed (${line}: ${end.status}): correct it, or set "install" in the configuration.${quoteOutput(end.output)}`,
  )
}

async function build(
  workspace: Workspace,
  ref: Ref,
  { directory, commandLine, onStep }: { directory: string; commandLine: string; onStep: OnStep },
): Promise<void> {
  onStep(`${ref.name}: ${commandLine}`)
  const end = await workspace.runLine(directory, commandLine)
  if (end.status === undefined) return
  throw new errorCodes.SPEED_BOUNDS_BUILD_FAILED(
    `The build of ${ref.name} failed (${commandLine}: ${end.status}): correct "build", or the code of ${ref.name}.${quoteOutput(end.output)}`,
  )
}
