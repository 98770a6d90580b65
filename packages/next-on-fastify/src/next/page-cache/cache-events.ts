// Changes of Next's page cache, in this process or in another one that shares it.

import type { Lifetime, Version } from './cache-handler-types.ts'

/** An entry of Next's cache that was read for a request. */
export interface PageRead {
  readonly key: string
  /** Whether it is a page or a route handler, in contrast to data that a page fetches. */
  readonly isPage: boolean
  /** Whether a part of the page is rendered for each request. */
  readonly isPartial: boolean
  readonly lastModified: number | undefined
  readonly lifetime: Lifetime | undefined
  readonly tags: readonly string[]
  /** The version that was read, if other processes may replace the entry. */
  readonly version: Version | undefined
}

/** A listener for changes of Next's cache. */
export interface CacheChanges {
  /**
   * A page was regenerated, or is about to be. `by`: reads of the regenerating request. Until the page is written, other
   * requests still get the entry that was read.
   */
  replaced(key: string, by?: readonly PageRead[]): void
  /** All entries with one of the tags are stale, or are about to be. They expire at `expireAt`. */
  revalidated(tags: readonly string[], expireAt: number | undefined): void
  /** Any entry may have changed. */
  lost(): void
}

const listeners = new Set<CacheChanges>()

/** Adds a listener, and returns the function that removes it. */
export function onCacheChange(listener: CacheChanges): () => void {
  listeners.add(listener)
  return () => listeners.delete(listener)
}

/** Notifies listeners that a page was regenerated, or is about to be: see {@link CacheChanges.replaced}. */
export function notifyReplaced(key: string, by?: readonly PageRead[]): void {
  for (const listener of listeners) listener.replaced(key, by)
}

/** Notifies listeners that tags were revalidated. */
export function notifyRevalidated(tags: readonly string[], expireAt: number | undefined): void {
  for (const listener of listeners) listener.revalidated(tags, expireAt)
}

/** Notifies listeners that changes of other processes were missed. */
export function notifyLost(): void {
  for (const listener of listeners) listener.lost()
}
