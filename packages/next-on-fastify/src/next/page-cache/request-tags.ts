// The tags of all entries that Next reads from its cache, or stores there, for one request.

import { AsyncLocalStorage } from 'node:async_hooks'
import { type Context, type Found, PAGE_KINDS, pagePathOf, pageTags } from './cache-handler-types.ts'

/** The prefix of tags that Next derives from paths. */
export const PATH_TAG = '_N_T_'

const current = new AsyncLocalStorage<Set<string>>()

/** Runs Next for a request, and adds the tags of its response to `tags`. */
export function collectTags<T>(tags: Set<string>, run: () => T): T {
  return current.run(tags, run)
}

/** Adds the tags of an entry that was looked up. */
export function addTagsRead(key: string, { kind = '', tags = [], softTags = [] }: Context, found: Found | null): void {
  const all = current.getStore()
  if (all === undefined) return
  if (!PAGE_KINDS.has(kind)) addAll(all, [...tags, ...softTags])
  // Pages of the Pages Router have no tags.
  else if (kind === 'PAGES') all.add(pathTag(key))
  else addAll(all, pageTags(found?.value))
}

/** Adds the tags of a page that is stored. */
export function addTagsStored(value: unknown): void {
  const all = current.getStore()
  if (all !== undefined) addAll(all, pageTags(value as Found['value']))
}

/** The tag of a page's path. */
export function pathTag(key: string): string {
  return PATH_TAG + pagePathOf(key)
}

function addAll(all: Set<string>, tags: readonly string[]): void {
  for (const tag of tags) all.add(tag)
}
