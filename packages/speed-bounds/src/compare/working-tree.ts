import { lstatSync, type Stats } from 'node:fs'
import { cp, mkdir, rm } from 'node:fs/promises'
import { dirname, join } from 'node:path'
import { git } from './git.ts'

/** Copies the uncommitted changes of a repository into a checkout of its HEAD. Ignored files are left out. */
export async function copyChanges(repository: string, checkout: string): Promise<void> {
  const changed = paths(await git(repository, 'diff', '--name-only', '--no-renames', '--no-ext-diff', '-z', 'HEAD'))
  const untracked = paths(await git(repository, 'ls-files', '--others', '--exclude-standard', '-z'))
  const all = [...new Set([...changed, ...untracked])].map((path) => ({ path, stat: statOf(join(repository, path)) }))
  // Deletions first: a link that became a folder must not receive the files of that folder.
  for (const { path, stat } of all)
    if (!isCopied(stat)) await rm(join(checkout, path), { recursive: true, force: true })
  for (const { path, stat } of all) {
    if (!isCopied(stat)) continue
    const target = join(checkout, path)
    await rm(target, { recursive: true, force: true })
    await mkdir(dirname(target), { recursive: true })
    await cp(join(repository, path), target, { verbatimSymlinks: true })
  }
}

function paths(output: string): string[] {
  // A nested repository ends with a slash.
  return output.split('\0').filter((path) => path !== '' && !path.endsWith('/'))
}

function statOf(path: string): Stats | undefined {
  try {
    return lstatSync(path)
  } catch {
    // It is deleted, or within a folder that became a file.
    return undefined
  }
}

/** Sockets and pipes are no content. A folder is a submodule, or comes with its files. */
function isCopied(stat: Stats | undefined): boolean {
  return stat !== undefined && (stat.isFile() || stat.isSymbolicLink())
}
