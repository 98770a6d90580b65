import type { RawHandle } from '../platform/node-internals.ts'

/** A connection on its way from one worker to another. */
export interface MovingConnection {
  readonly handle: RawHandle
  /** How long it has been idle, in milliseconds; negative if it may be idle for longer than `keepAliveTimeout`. */
  readonly idleMs: number
  /** Ids of the workers that had no free descriptor for it. */
  readonly refusedBy: readonly number[]
}
