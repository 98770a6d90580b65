// A copy of this workspace that may be changed.

import { execFileSync } from 'node:child_process'
import { cpSync, existsSync } from 'node:fs'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'

export const ROOT: string = fileURLToPath(new URL('../../', import.meta.url))

/** Copies each file that Git tracks or would add, with changes that are not committed: of all folders, or of one. */
export function copyWorkspace(folder: string, part = '.'): void {
  const source = join(ROOT, part)
  const list = execFileSync('git', ['ls-files', '--cached', '--others', '--exclude-standard', '-z'], {
    cwd: source,
    encoding: 'utf8',
  })
  // A file that was deleted stays in the list until the deletion is staged.
  const paths = list.split('\0').filter((path) => path !== '' && existsSync(join(source, path)))
  for (const path of paths) cpSync(join(source, path), join(folder, path))
}
