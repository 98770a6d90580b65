// Files that Next serves unchanged: static files of the build, files of `public`, and pages without data.

import { readFileSync, statSync } from 'node:fs'
import { join } from 'node:path'
import type { Build } from '../next/build/cacheable-build.ts'
import { STATIC_FILES } from '../next/build/prerendered.ts'

/** The file of a response. */
export interface ServedFile {
  readonly path: string
  /** Changes with the size and the time of the file. Undefined if the file name contains a content hash. */
  readonly version: string | undefined
}

/** The file of a response to `path` with this entity tag, if it was one. */
export function servedFile(build: Build, path: string, etag: string | undefined): ServedFile | undefined {
  const inside = build.fileOf(path)
  if (etag === undefined || inside === undefined) return undefined
  const isStatic = inside.startsWith(STATIC_FILES)
  const file = isStatic
    ? join(build.distDir, 'static', inside.slice(STATIC_FILES.length))
    : join(build.dir, 'public', inside.slice(1))
  // Next's entity tag of a file consists of its size and its time.
  if (versionOf(file) === etag) return { path: file, version: isStatic ? undefined : etag }
  return servedPage(build, path, etag)
}

/** Versions that were read in this event-loop tick: requests that arrived by its beginning share one `stat`. */
const versions = new Map<string, string | undefined>()

/** Whether the file is unchanged. Next checks this for each request, too. */
export function isUnchanged({ path, version }: ServedFile): boolean {
  if (version === undefined) return true
  if (versions.size === 0) setImmediate(() => versions.clear())
  if (!versions.has(path)) versions.set(path, versionOf(path))
  return versions.get(path) === version
}

/** A page of the Pages Router without data is a file of the build. Its entity tag is a hash of the text. */
function servedPage(build: Build, path: string, etag: string): ServedFile | undefined {
  const page = build.staticPage(path)
  const version = page === undefined ? undefined : versionOf(page)
  if (page === undefined || version === undefined) return undefined
  try {
    return build.etagOf(readFileSync(page, 'utf8')) === etag ? { path: page, version } : undefined
  } catch {
    // The file was removed meanwhile.
    return undefined
  }
}

function versionOf(file: string): string | undefined {
  let stats
  try {
    stats = statSync(file, { throwIfNoEntry: false })
  } catch {
    // The name is too long for a file, or access is denied.
    return undefined
  }
  if (stats === undefined || !stats.isFile()) return undefined
  return `W/"${stats.size.toString(16)}-${stats.mtime.getTime().toString(16)}"`
}
