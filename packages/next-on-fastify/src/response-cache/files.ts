// Files that Next serves as they are: what the build made, what lies in `public`, and pages without data.

import { readFileSync, statSync } from 'node:fs'
import { join } from 'node:path'
import { type Build, BUILT_FILES } from './build/build.ts'

/** A file behind an answer. */
export interface ServedFile {
  readonly path: string
  /** It changes with the size and the time of the file; there is none where the name changes with what is in it. */
  readonly version: string | undefined
}

/** The file that an answer to `path` with this entity tag was, if it was one. */
export function servedFile(build: Build, path: string, etag: string | undefined): ServedFile | undefined {
  const inside = build.fileOf(path)
  if (etag === undefined || inside === undefined) return undefined
  const isBuilt = inside.startsWith(BUILT_FILES)
  const file = isBuilt
    ? join(build.distDir, 'static', inside.slice(BUILT_FILES.length))
    : join(build.dir, 'public', inside.slice(1))
  // The entity tag that Next gives a file is its size, and when it was written.
  if (versionOf(file) === etag) return { path: file, version: isBuilt ? undefined : etag }
  return servedPage(build, path, etag)
}

/** What was seen in this turn of the event loop: requests that have arrived by its beginning share one look. */
const seen = new Map<string, string | undefined>()

/** Whether the file is the one that was served. Next looks at each request too. */
export function isUnchanged({ path, version }: ServedFile): boolean {
  if (version === undefined) return true
  if (seen.size === 0) setImmediate(() => seen.clear())
  if (!seen.has(path)) seen.set(path, versionOf(path))
  return seen.get(path) === version
}

/** A page of the Pages Router that has no data is a file of the build; its entity tag is made of the text. */
function servedPage(build: Build, path: string, etag: string): ServedFile | undefined {
  const page = build.staticPage(path)
  const version = page === undefined ? undefined : versionOf(page)
  if (page === undefined || version === undefined) return undefined
  try {
    return build.etagOf(readFileSync(page, 'utf8')) === etag ? { path: page, version } : undefined
  } catch {
    // It has gone since.
    return undefined
  }
}

function versionOf(file: string): string | undefined {
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
