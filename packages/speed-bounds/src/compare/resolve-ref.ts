import { errorCodes } from '../errors.ts'
import { shortHash } from './comparison.ts'
import { git } from './git.ts'

/** The name of the working tree on the command line. */
export const WORKING_TREE = '.'

/** One of the two sides of a comparison. */
export interface Ref {
  /** As the user wrote it, `working tree`, or the beginning of a whole hash. */
  readonly name: string
  readonly commit: string
  /** Uncommitted changes of the working tree count. */
  readonly isWorkingTree: boolean
}

/** Resolves the name of a commit. Later steps use the hash only, so a name is never an option of git. */
export async function resolveRef(repository: string, name: string): Promise<Ref> {
  if (name === WORKING_TREE) {
    const commit = await commitOf(repository, 'HEAD')
    if (commit === undefined) throw unknown('The repository has no commit yet: commit something to compare with.')
    return { name: 'working tree', commit, isWorkingTree: true }
  }
  // oxlint-disable-next-line no-control-regex -- Names of refs have none, and one would be printed in the error.
  if (name === '' || name.startsWith('-') || /[\u0000-\u001F\u007F]/.test(name)) {
    throw unknown(`Invalid ref ${JSON.stringify(name)}: expected the name of a branch, a tag or a commit.`)
  }
  const commit = await commitOf(repository, name)
  if (commit !== undefined) return { name: name === commit ? shortHash(commit) : name, commit, isWorkingTree: false }
  throw unknown(`There is no commit ${JSON.stringify(name)}: ${await remedyOf(repository, name)}`)
}

async function commitOf(repository: string, name: string): Promise<string | undefined> {
  try {
    const args = ['rev-parse', '--verify', '--quiet', '--end-of-options', `${name}^{commit}`]
    const commit = (await git(repository, ...args)).trim()
    return /^[0-9a-f]{40,64}$/.test(commit) ? commit : undefined
  } catch (error) {
    if (error instanceof errorCodes.SPEED_BOUNDS_NO_REPOSITORY) throw error
    return undefined
  }
}

async function remedyOf(repository: string, name: string): Promise<string> {
  if ((await commitOf(repository, `origin/${name}`)) !== undefined) return `did you mean origin/${name}?`
  const isShallow = (await git(repository, 'rev-parse', '--is-shallow-repository')).trim() === 'true'
  return isShallow
    ? 'this clone is shallow. Run git fetch --unshallow --tags, or set fetch-depth: 0 in actions/checkout.'
    : 'correct the name, or run git fetch --tags.'
}

function unknown(message: string): Error {
  return new errorCodes.SPEED_BOUNDS_UNKNOWN_REF(message)
}
