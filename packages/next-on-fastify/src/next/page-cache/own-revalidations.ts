// Revalidations by requests of this process, in contrast to those of other processes that share the cache.

/** A listener for own revalidations. They are done, and Next waits for the returned promise. */
export interface OwnRevalidations {
  /** Tags were revalidated, by `revalidateTag()`, `updateTag()` or `revalidatePath()`. */
  tagsRevalidated(tags: readonly string[]): Promise<void>
  /** A page was regenerated on demand, if `secret` is the one of the build. A client may send any other. */
  pageRegenerated(key: string, secret: unknown): Promise<void>
}

const listeners = new Set<OwnRevalidations>()

/** Adds a listener, and returns the function that removes it. */
export function onOwnRevalidation(listener: OwnRevalidations): () => void {
  listeners.add(listener)
  return () => listeners.delete(listener)
}

/** Whether there are listeners. */
export function isAnnounced(): boolean {
  return listeners.size > 0
}

/** Announces tags to all listeners, and waits for them. */
export async function announceTags(tags: readonly string[]): Promise<void> {
  await Promise.all(Array.from(listeners, (listener) => listener.tagsRevalidated(tags)))
}

/** Announces a page to all listeners, and waits for them. */
export async function announcePage(key: string, secret: unknown): Promise<void> {
  await Promise.all(Array.from(listeners, (listener) => listener.pageRegenerated(key, secret)))
}
