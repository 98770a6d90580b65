import { execFile } from 'node:child_process'
import { promisify } from 'node:util'
import { realpathSync } from 'node:fs'
import { errorCodes } from '../errors.ts'

const execute = promisify(execFile)

/** Variables that git sets for hooks. They would send commands for a worktree to the repository of the hook. */
const OF_HOOKS = /^GIT_(?:DIR|WORK_TREE|INDEX_FILE|PREFIX|COMMON_DIR|OBJECT_DIRECTORY)$/

/** The environment of git, installs and builds. */
export function cleanEnvironment(): NodeJS.ProcessEnv {
  return Object.fromEntries(Object.entries(process.env).filter(([name]) => !OF_HOOKS.test(name)))
}

/** Output of git in a folder. No shell is involved. Rejects with the first line that git wrote to stderr. */
export async function git(directory: string, ...args: string[]): Promise<string> {
  try {
    const { stdout } = await execute('git', args, {
      cwd: directory,
      env: cleanEnvironment(),
      maxBuffer: 2 ** 28,
      windowsHide: true,
    })
    return stdout
  } catch (error) {
    const { code, stderr = '' } = error as { code?: unknown; stderr?: string }
    if (code === 'ENOENT') {
      throw new errorCodes.SPEED_BOUNDS_NO_REPOSITORY('Cannot run git: install it, or add it to PATH.', {
        cause: error,
      })
    }
    throw new Error(stderr.trim().split('\n', 1)[0], { cause: error })
  }
}

/** Top folder of the repository that a folder is in. */
export async function repositoryOf(directory: string): Promise<string> {
  try {
    return realpathSync((await git(directory, 'rev-parse', '--show-toplevel')).trimEnd())
  } catch (error) {
    if (error instanceof errorCodes.SPEED_BOUNDS_NO_REPOSITORY) throw error
    throw new errorCodes.SPEED_BOUNDS_NO_REPOSITORY(
      `${directory} is not in a git working tree (${(error as Error).message}): run compare in a clone.`,
      { cause: error },
    )
  }
}
