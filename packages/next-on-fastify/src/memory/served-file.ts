// Files that Next serves as they are: what the build made, and what lies in `public`.

import { statSync } from 'node:fs'
import { join } from 'node:path'
import type { Build } from './build.ts'

/** A file behind an answer. */
export interface ServedFile {
  readonly path: string
  /** Its name changes with what is in it. */
  readonly immutable: boolean
}

const BUILT = '/_next/static/'

/** The file that an answer to `path` with this entity tag was, if it was one. */
export function servedFile(build: Build, path: string, etag: string | undefined): ServedFile | undefined {
  const immutable = path.startsWith(BUILT)
  const file = immutable
    ? join(build.distDir, 'static', path.slice(BUILT.length))
    : join(build.dir, 'public', path.slice(1))
  return etag !== undefined && etagOf(file) === etag ? { path: file, immutable } : undefined
}

/** Whether the file is the one that was served. It costs some microseconds, and Next looks at each request too. */
export function isUnchanged(file: ServedFile, etag: string): boolean {
  return file.immutable || etagOf(file.path) === etag
}

/** The entity tag that Next gives a file: its size, and when it was written. */
function etagOf(file: string): string | undefined {
  let stats
  try {
    stats = statSync(file, { throwIfNoEntry: false })
  } catch {
    // A name that is too long for a file, as a path of a page may be, or one that must not be seen.
    return undefined
  }
  if (stats === undefined || !stats.isFile()) return undefined
  return `W/"${stats.size.toString(16)}-${stats.mtime.getTime().toString(16)}"`
}
