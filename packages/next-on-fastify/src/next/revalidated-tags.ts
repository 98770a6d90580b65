// What Next itself keeps of revalidated tags, in a map of its own. Its cache handler writes it for this process; here it
// gets to know of the others, with their times: an entry that another process made since then is fresh.

import { createRequire } from 'node:module'
import { join } from 'node:path'

/** Tells Next of tags that another process has revalidated. */
export type TellNext = (tags: readonly string[], at: number, stale: boolean, expireAt: number) => void

/** Next 16: when a tag went stale, and when it expires. */
interface TagTimes {
  stale?: number
  expired?: number
}

/** Finds the map, in the forms that Next gave it so far; where there is none, nothing can be shared. */
export function tellingNext(dir: string): TellNext | undefined {
  const fromApp = createRequire(join(dir, 'package.json'))
  const path = 'next/dist/server/lib/incremental-cache/tags-manifest.external'
  const { tagsManifest, areTagsExpired } = fromApp(path) as Readonly<Record<string, unknown>>
  if (!(tagsManifest instanceof Map)) return undefined
  return typeof areTagsExpired === 'function' ? inTimes(tagsManifest) : inMap(tagsManifest)
}

function inTimes(times: Map<string, TagTimes>): TellNext {
  return (tags, at, stale, expireAt) => {
    for (const tag of tags) {
      const before = times.get(tag) ?? {}
      if (!stale) times.set(tag, { ...before, expired: at })
      else times.set(tag, { ...before, stale: at, ...(expireAt < Infinity && { expired: expireAt }) })
    }
  }
}

/** Next 15. */
function inMap(times: Map<string, number>): TellNext {
  return (tags, at) => {
    for (const tag of tags) times.set(tag, at)
  }
}
