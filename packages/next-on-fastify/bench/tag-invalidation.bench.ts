import { notifyRevalidated } from '../src/next/page-cache/cache-events.ts'
import { filledCache } from './filled-cache.ts'

const ENTRIES = 5000

// Decides whether a revalidated tag is worth an index by tag, which follows each entry that is cached or evicted.

await filledCache(ENTRIES)
const index = new Map<string, Set<string>>()
for (let page = 0; page < ENTRIES; page++) {
  const tag = `tag-${page % 100}`
  index.set(tag, (index.get(tag) ?? new Set()).add(`/page-${page}`))
}

/** A revalidated tag that none of the entries has. */
export default {
  'by a scan of all entries': () => notifyRevalidated(['absent'], undefined),
  'by an index': () => {
    for (const key of index.get('absent') ?? []) index.delete(key)
    return index
  },
  'what the index costs for each cached entry': () => {
    const keys = index.get('tag-1')!
    keys.delete('/page-1')
    return keys.add('/page-1')
  },
}
