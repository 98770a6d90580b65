// Workers write their statistics to a shared file in memory, which wakes no process. Messages to the primary cost a fifth
// of the CPU at 8,000 small requests per second. See docs/measurements.md#shared-statistics

import { closeSync, openSync, readSync, rmSync, writeSync } from 'node:fs'
import { randomUUID } from 'node:crypto'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import type { WorkerStats } from '../server-types.ts'
import type { StatsSlot } from './messages.ts'

/** Time, five statistics, and the time again. Different times mean that a write is in progress. */
const FIELDS = 7
const BYTES = FIELDS * Float64Array.BYTES_PER_ELEMENT

/** Milliseconds of a clock that all processes of a machine share. */
export function now(): number {
  const [seconds, nanoseconds] = process.hrtime()
  return seconds * 1000 + nanoseconds / 1e6
}

/** Writes current statistics, and returns whether that succeeded. */
export function writeStats({ fd, position }: StatsSlot, stats: WorkerStats): boolean {
  const { connections, requests, rss, heapUsed, utilization } = stats
  const at = now()
  try {
    writeSync(fd, Float64Array.of(at, connections, requests, rss, heapUsed, utilization, at), 0, BYTES, position)
    return true
  } catch {
    // On some file systems even overwriting needs free space.
    return false
  }
}

/** A file without a name, open in the primary and its workers. */
export class SharedStats {
  readonly #fd: number
  /** Slots of workers that have ended. */
  readonly #free: StatsSlot[] = []
  readonly #buffer = new Float64Array(FIELDS)
  #end = 0

  private constructor(fd: number) {
    this.#fd = fd
  }

  /**
   * Creates the file; returns `undefined` where no folder is writable. Statistics are sent as messages then.
   *
   * @param folders candidates in order; the first is in memory on Linux
   */
  static create(folders: readonly string[] = ['/dev/shm', tmpdir()]): SharedStats | undefined {
    for (const folder of folders) {
      const path = join(folder, `clustered-server-${randomUUID()}`)
      try {
        const fd = openSync(path, 'wx+', 0o600)
        rmSync(path)
        return new SharedStats(fd)
      } catch {}
    }
    return undefined
  }

  /** Reserves a slot, if there is space. Later writes to it need no more space in memory. */
  add(): StatsSlot | undefined {
    const slot = this.#free.pop() ?? { fd: this.#fd, position: this.#end }
    try {
      writeSync(this.#fd, new Float64Array(FIELDS), 0, BYTES, slot.position)
    } catch {
      return undefined
    }
    this.#end = Math.max(this.#end, slot.position + BYTES)
    return slot
  }

  remove(slot: StatsSlot): void {
    this.#free.push(slot)
  }

  /** Reads the latest statistics of a slot and their time, by `now()`. */
  read({ position }: StatsSlot): { readonly at: number; readonly stats: WorkerStats } | undefined {
    readSync(this.#fd, this.#buffer, 0, BYTES, position)
    const [at, connections, requests, rss, heapUsed, utilization, again] = this.#buffer as unknown as SevenNumbers
    if (at === 0 || at !== again) return undefined
    return { at, stats: { connections, requests, rss, heapUsed, utilization } }
  }

  close(): void {
    closeSync(this.#fd)
  }
}

type SevenNumbers = [number, number, number, number, number, number, number]
