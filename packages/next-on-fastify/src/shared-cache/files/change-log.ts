// What was revalidated, in a file to which all processes of a machine append, and which each looks at before it answers.
//
// The operating system puts what is appended in one order, and tells everybody the size that a file has now: whoever looks
// after an append has returned sees it. So nobody is asked or waited for, a process that hangs or dies holds nobody up, and
// one that starts reads what it has missed. To look costs a `fstat`, which is some microseconds.

import { closeSync, constants, fstatSync, mkdirSync, openSync, readdirSync, readSync, rmSync, writeSync } from 'node:fs'
import { join } from 'node:path'

/** Something that has changed: tags, a page, or nothing, which is there for its place in the order. */
export interface Change {
  /** Who has written it. */
  readonly by: string
  readonly tags?: readonly string[]
  /** When the tags were revalidated: milliseconds since 1970. */
  readonly at?: number
  /** Whether what has the tags may still be shown once, or until `expireAt`. */
  readonly stale?: boolean
  readonly expireAt?: number
  /** The key of a page that was made anew on demand, from what was there at the position `since`. */
  readonly page?: string
  readonly since?: number
}

/** Who is told what a log has. */
export interface ChangeReader {
  /** One more change, and the position after it. */
  changed(change: Change, position: number): void
  /** What was before that position is not known, or not any more. */
  lost(position: number): void
}

/** An order of all changes. */
export interface Changes {
  /** A number that grows with each change that was read. */
  readonly position: number
  /** Tells all that was appended before now. */
  read(): void | Promise<void>
  /** Appends a change: when that is done, every process that reads is told of it. */
  append(change: Change): void | Promise<void>
  close(): void
}

/** Tells what was written as a change; if it is none, nobody knows what it was to say. */
export function tellChange(reader: ChangeReader, text: string, position: number): void {
  let change: Change
  try {
    change = JSON.parse(text) as Change
  } catch {
    reader.lost(position)
    return
  }
  reader.changed(change, position)
}

/** Bytes after which a file is full: some 150,000 changes. */
const FULL = 16 * 1024 * 1024
/** Positions of two files are as far apart. */
const SPAN = 2 ** 40
const NAME = /^changes-(\d+)$/
const APPEND = constants.O_RDWR | constants.O_APPEND

/** The first position there is: what the build has made was there before anything changed. */
export const FIRST_POSITION: number = SPAN

/** A log in the files of a folder, the newest of which is written to. */
export class ChangeLog implements Changes {
  readonly #folder: string
  readonly #reader: ChangeReader
  readonly #full: number
  #file = -1
  #number = 0
  /** Bytes that were read, to the end of a line. */
  #offset = 0
  /** The size when that was looked at last. */
  #size = 0

  constructor(folder: string, reader: ChangeReader, full: number = FULL) {
    this.#folder = folder
    this.#reader = reader
    this.#full = full
    this.#start()
  }

  /** A number that grows with each change that was read. */
  get position(): number {
    return this.#number * SPAN + this.#offset
  }

  /** Tells all that was appended before now. */
  read(): void {
    const { size, nlink } = fstatSync(this.#file)
    if (size !== this.#size || nlink === 0 || size >= this.#full) this.#catchUp()
  }

  /** Appends a change: when this returns, every process that looks sees it. */
  append(change: Change): void {
    // After what a process has written that died meanwhile, it is a line nevertheless.
    const line = Buffer.from(`\n${JSON.stringify(change)}\n`)
    for (;;) {
      this.read()
      if (writeSync(this.#file, line) !== line.length) throw new Error(`No space is left in ${this.#folder}`)
      const { size, nlink } = fstatSync(this.#file)
      // Those who have left a full file, or one that was removed, do not look there again.
      if (nlink > 0 && size - line.length < this.#full) break
    }
    this.read()
  }

  close(): void {
    closeSync(this.#file)
    this.#file = -1
  }

  /** Reads all files that are there. */
  #start(): void {
    mkdirSync(this.#folder, { recursive: true })
    this.#openFirst(0)
    this.#reader.lost(this.position)
    this.#catchUp()
  }

  #catchUp(): void {
    for (;;) {
      const { size, nlink } = fstatSync(this.#file)
      if (size > this.#offset) this.#readTo(size)
      this.#size = size
      if (nlink === 0) {
        // Somebody has removed the folder, such as `next build`.
        this.close()
        this.#start()
        return
      }
      if (size < this.#full) return
      this.#moveOn()
    }
  }

  /** Goes to the file after this one, which is full. */
  #moveOn(): void {
    const left = this.#number
    this.close()
    this.#openFirst(left)
    if (this.#number > left + 1) this.#reader.lost(this.position)
    // Those who start get two files to read.
    for (const number of this.#numbers()) {
      if (number < this.#number - 1) rmSync(this.#path(number), { force: true })
    }
  }

  /** Opens the first file after the one of that number, and makes it where there is none. */
  #openFirst(after: number): void {
    for (;;) {
      const number = this.#numbers().find((there) => there > after)
      try {
        this.#file = openSync(
          this.#path(number ?? after + 1),
          number === undefined ? APPEND | constants.O_CREAT : APPEND,
        )
        this.#number = number ?? after + 1
        this.#offset = 0
        this.#size = 0
        return
      } catch (error) {
        // Who was faster has removed it: a new one of that name would be one that nobody looks at.
        if (number === undefined || (error as NodeJS.ErrnoException).code !== 'ENOENT') throw error
      }
    }
  }

  #numbers(): number[] {
    return readdirSync(this.#folder)
      .flatMap((name) => NAME.exec(name)?.[1] ?? [])
      .map(Number)
      .toSorted((one, other) => one - other)
  }

  #path(number: number): string {
    return join(this.#folder, `changes-${number}`)
  }

  #readTo(size: number): void {
    const bytes = Buffer.alloc(size - this.#offset)
    let length = 0
    while (length < bytes.length) {
      const read = readSync(this.#file, bytes, length, bytes.length - length, this.#offset + length)
      if (read === 0) break
      length += read
    }
    // What has no end yet is being written.
    let begin = 0
    for (let end = bytes.indexOf('\n'); end !== -1 && end < length; end = bytes.indexOf('\n', begin)) {
      const line = bytes.toString('utf8', begin, end)
      begin = end + 1
      const position = this.position + begin
      // One that cannot be read is of a process that has died while it wrote it, or had a full disk.
      if (line !== '') tellChange(this.#reader, line, position)
    }
    this.#offset += begin
  }
}
