import { test } from 'vitest'
import { notifyRevalidated } from '../src/next/page-cache/cache-events.ts'
import { filledCache } from './filled-cache.ts'

const ENTRIES = 5000

// Decides whether a revalidated tag is worth an index by tag, which follows each entry that is cached or evicted.

test(`a revalidated tag that none of ${ENTRIES} entries has`, async ({ bench }) => {
  const cache = await filledCache(ENTRIES)
  const index = new Map<string, Set<string>>()
  for (let page = 0; page < ENTRIES; page++) {
    const tag = `tag-${page % 100}`
    index.set(tag, (index.get(tag) ?? new Set()).add(`/page-${page}`))
  }
  await bench.compare(
    bench('by a scan of all entries', () => {
      notifyRevalidated(['absent'], undefined)
    }),
    bench('by an index', () => {
      for (const key of index.get('absent') ?? []) index.delete(key)
    }),
    bench('what the index costs for each cached entry', () => {
      const keys = index.get('tag-1')!
      keys.delete('/page-1')
      keys.add('/page-1')
    }),
  )
  cache.close()
})
