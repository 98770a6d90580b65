// What workers say of themselves a few times a second goes through a file in memory, where it wakes nobody: as messages
// to the primary it cost a fifth of the CPU of 8,000 small requests a second, on two cores.

import { closeSync, openSync, readSync, rmSync, writeSync } from 'node:fs'
import { randomUUID } from 'node:crypto'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import type { WorkerFigures } from './messages.ts'

/** The time at which it was said, the figures, and that time again: where the two differ, it is being written. */
const FIELDS = 7
const BYTES = FIELDS * Float64Array.BYTES_PER_ELEMENT

/** Milliseconds of a clock that all processes of a machine share. */
export function now(): number {
  const [seconds, nanoseconds] = process.hrtime()
  return seconds * 1000 + nanoseconds / 1e6
}

/** Where the figures of one worker stand: the descriptor of the file, and the place in it. */
export interface Place {
  readonly fd: number
  readonly position: number
}

/** Writes down a worker's figures of now, and returns whether that could be done. */
export function writeFigures({ fd, position }: Place, figures: WorkerFigures): boolean {
  const { connections, requests, rss, heapUsed, utilization } = figures
  const at = now()
  try {
    writeSync(fd, Float64Array.of(at, connections, requests, rss, heapUsed, utilization, at), 0, BYTES, position)
    return true
  } catch {
    // There are file systems on which even what is written over takes room.
    return false
  }
}

/** A file without a name, which the primary and its workers have open. */
export class FiguresFile {
  readonly #fd: number
  /** Places of workers that have ended. */
  readonly #free: Place[] = []
  readonly #read = new Float64Array(FIELDS)
  #end = 0

  private constructor(fd: number) {
    this.#fd = fd
  }

  /**
   * None, where there is no folder to have it in: then figures travel as messages.
   *
   * @param folders which are tried, the first in memory on any Linux
   */
  static create(folders: readonly string[] = ['/dev/shm', tmpdir()]): FiguresFile | undefined {
    for (const folder of folders) {
      const path = join(folder, `clustered-server-${randomUUID()}`)
      try {
        const fd = openSync(path, 'wx+', 0o600)
        rmSync(path)
        return new FiguresFile(fd)
      } catch {}
    }
    return undefined
  }

  /** A place for a worker, if there is room: in memory, what is written there later needs no more of it. */
  add(): Place | undefined {
    const place = this.#free.pop() ?? { fd: this.#fd, position: this.#end }
    try {
      writeSync(this.#fd, new Float64Array(FIELDS), 0, BYTES, place.position)
    } catch {
      return undefined
    }
    this.#end = Math.max(this.#end, place.position + BYTES)
    return place
  }

  remove(place: Place): void {
    this.#free.push(place)
  }

  /** What was last written there, and when, by `now()`. */
  read({ position }: Place): { readonly at: number; readonly figures: WorkerFigures } | undefined {
    readSync(this.#fd, this.#read, 0, BYTES, position)
    const [at, connections, requests, rss, heapUsed, utilization, again] = this.#read as unknown as SevenNumbers
    if (at === 0 || at !== again) return undefined
    return { at, figures: { connections, requests, rss, heapUsed, utilization } }
  }

  close(): void {
    closeSync(this.#fd)
  }
}

type SevenNumbers = [number, number, number, number, number, number, number]
