// What processes share: a totally ordered log of changes, entries of Next's cache, and locks.

import type { Lifetime, Version } from '../next/page-cache/cache-handler-types.ts'

/** A change: tags, a page, or neither, if only its position in the log matters. */
export interface Change {
  /** The process that wrote it. */
  readonly by: string
  readonly tags?: readonly string[]
  /** When the tags were revalidated, in milliseconds since 1970. */
  readonly at?: number
  /** Whether entries with the tags may still be served once, or until `expireAt`. */
  readonly stale?: boolean
  readonly expireAt?: number
  /** The key of a page that was regenerated on demand, from the state at the position `since`. */
  readonly page?: string
  readonly since?: number
}

/** A reader of a log. */
export interface ChangeReader {
  /** Called with the next change, and the position after it. */
  changed(change: Change, position: number): void
  /** Called if changes before that position are unknown. */
  lost(position: number): void
}

/** A totally ordered log of changes. */
export interface Changes {
  /** A number that grows with each change that was read. */
  readonly position: number
  /** Passes all changes to the reader that were appended before this call. */
  read(): void | Promise<void>
  /** Appends a change. When it is done, every process that reads gets it. */
  append(change: Change): void | Promise<void>
  close(): void
}

/** The first position of any log. Entries of the build are older than all changes. */
export const FIRST_POSITION: number = 2 ** 40

/** Parses a change and passes it on. If it is damaged, its content is unknown. */
export function parseChange(reader: ChangeReader, text: string, position: number): void {
  let change: Change
  try {
    change = JSON.parse(text) as Change
  } catch {
    reader.lost(position)
    return
  }
  reader.changed(change, position)
}

/** An entry, and the state it was rendered from. */
export interface Entry {
  readonly key: string
  /** Identifies the rendering. Two of the same millisecond differ in nothing else. */
  readonly renderId: string
  /** The position in the log when rendering began. */
  readonly since: number
  /** When rendering began, in milliseconds since 1970. */
  readonly begunAt: number
  readonly lastModified: number
  readonly cacheControl: Lifetime | undefined
  readonly value: unknown
}

/** The version of an entry that must be read to be known. */
export const UNKNOWN: unique symbol = Symbol('unknown')

/** A store of entries. */
export interface Entries {
  /** The version of an entry, or undefined if there is no entry. */
  versionOf(key: string): string | typeof UNKNOWN | undefined
  /** An object that checks whether a version is still current, if the store can check that. */
  version(key: string, version: string | typeof UNKNOWN | undefined): Version | undefined
  /** An entry, and its size in bytes. */
  read(key: string): Promise<{ readonly entry: Entry; readonly bytes: number } | undefined>
  write(key: string, entry: Entry): Promise<void>
}

/** A lock that is not extended for this time is free, in ms: its process has died. */
export const LEASE = 5000

/** A lock that this process has. Both calls do nothing if another process has taken it meanwhile. */
export interface Lock {
  extend(): Promise<void>
  release(): Promise<void>
}

/** Locks that all processes see. */
export interface Locks {
  /** Takes a lock. Undefined if another process has it, or another task of this one. */
  acquire(key: string): Promise<Lock | undefined>
}

/** Everything that processes share. */
export interface Store {
  readonly changes: Changes
  readonly entries: Entries
}
