// Next's map of revalidated tags. Its cache handler records tags of this process. Here, tags of other processes are added
// with their times, so that an entry that another process stored since then is fresh.

import { createRequire } from 'node:module'
import { join } from 'node:path'

/** Adds tags that another process has revalidated. */
export type AddRevalidatedTags = (tags: readonly string[], at: number, stale: boolean, expireAt: number) => void

/** Next 16: when a tag went stale, and when it expires. */
interface TagTimes {
  stale?: number
  expired?: number
}

/** Finds the map, in the forms of Next 15 and 16. Undefined if there is none. */
export function revalidatedTagsOf(dir: string): AddRevalidatedTags | undefined {
  const fromApp = createRequire(join(dir, 'package.json'))
  const path = 'next/dist/server/lib/incremental-cache/tags-manifest.external'
  const { tagsManifest, areTagsExpired } = fromApp(path) as Readonly<Record<string, unknown>>
  if (!(tagsManifest instanceof Map)) return undefined
  return typeof areTagsExpired === 'function' ? inTimes(tagsManifest) : inMap(tagsManifest)
}

function inTimes(times: Map<string, TagTimes>): AddRevalidatedTags {
  return (tags, at, stale, expireAt) => {
    for (const tag of tags) {
      const before = times.get(tag) ?? {}
      if (!stale) times.set(tag, { ...before, expired: at })
      else times.set(tag, { ...before, stale: at, ...(expireAt < Infinity && { expired: expireAt }) })
    }
  }
}

/** Next 15. */
function inMap(times: Map<string, number>): AddRevalidatedTags {
  return (tags, at) => {
    for (const tag of tags) times.set(tag, at)
  }
}
