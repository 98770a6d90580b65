// The app as an older Next wants it, in a folder whose `next` is that one.

import { cp, mkdir, readdir, readFile, realpath, rm, symlink, writeFile } from 'node:fs/promises'
import { fileURLToPath } from 'node:url'

/** Files that have another name in Next 15. */
const changes: readonly { file: string; as: string; replace: readonly [string, string] }[] = [
  { file: 'proxy.guarded.ts', as: 'middleware.guarded.ts', replace: ['function proxy(', 'function middleware('] },
  { file: 'app/form/actions.ts', as: 'app/form/actions.ts', replace: ['updateTag', 'revalidateTag'] },
]

/** Files that stay when the sources are copied again. */
const made = new Set(['.next', 'node_modules'])

/** Copies the sources of the app. Builds of former sources stay. */
export async function copyForOlderNext(name: string, from: URL, to: URL): Promise<void> {
  for (const file of await readdir(to)) {
    if (!made.has(file)) await rm(new URL(file, to), { recursive: true })
  }
  const filter = (path: string): boolean => !/\/(?:\.next|node_modules|generated)$/.test(path)
  await cp(from, to, { recursive: true, filter })
  for (const { file, as, replace } of changes) {
    const source = await readFile(new URL(file, to), 'utf8')
    await rm(new URL(file, to))
    await writeFile(new URL(as, to), source.replaceAll(...replace))
  }
  await mkdir(new URL('node_modules/', to), { recursive: true })
  for (const [link, target] of [
    ['next', name],
    // It refuses a newer one.
    ['typescript', 'typescript-6'],
  ]) {
    const path = new URL(`node_modules/${link}`, to)
    await rm(path, { force: true })
    await symlink(await realpath(fileURLToPath(new URL(`node_modules/${target}`, import.meta.url))), path)
  }
}
