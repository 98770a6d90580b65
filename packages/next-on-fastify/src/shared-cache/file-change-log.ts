// A log of changes in a file to which all processes of a machine append. Each process checks its size before it responds,
// by an `fstat` of some microseconds. The operating system orders appends, and shows the new size to every process once an
// append has returned. So no process waits for another one, and a new process reads the changes it has missed.

import { closeSync, constants, fstatSync, mkdirSync, openSync, readdirSync, readSync, rmSync, writeSync } from 'node:fs'
import { join } from 'node:path'
import { type Change, type ChangeReader, type Changes, FIRST_POSITION, parseChange } from './store-contract.ts'

/** Size of a full file, in bytes: about 150,000 changes. */
const MAX_FILE_BYTES = 16 * 1024 * 1024
/** Distance between the positions of two files. */
const SPAN = FIRST_POSITION
const NAME = /^changes-(\d+)$/
const APPEND = constants.O_RDWR | constants.O_APPEND

/** A log in the files of a folder. Processes append to the newest one. */
export class FileChanges implements Changes {
  readonly #folder: string
  readonly #reader: ChangeReader
  readonly #maxFileBytes: number
  #file = -1
  #number = 0
  /** Number of bytes that were read, up to the end of a line. */
  #offset = 0
  /** The size at the last check. */
  #size = 0

  constructor(folder: string, reader: ChangeReader, maxFileBytes: number = MAX_FILE_BYTES) {
    this.#folder = folder
    this.#reader = reader
    this.#maxFileBytes = maxFileBytes
    this.#start()
  }

  get position(): number {
    return this.#number * SPAN + this.#offset
  }

  read(): void {
    const { size, nlink } = fstatSync(this.#file)
    if (size !== this.#size || nlink === 0 || size >= this.#maxFileBytes) this.#catchUp()
  }

  append(change: Change): void {
    // The leading newline ends a partial line of a process that has died.
    const line = Buffer.from(`\n${JSON.stringify(change)}\n`)
    for (;;) {
      this.read()
      if (writeSync(this.#file, line) !== line.length) throw new Error(`No space left in ${this.#folder}`)
      const { size, nlink } = fstatSync(this.#file)
      // Other processes no longer read a full or removed file.
      if (nlink > 0 && size - line.length < this.#maxFileBytes) break
    }
    this.read()
  }

  close(): void {
    closeSync(this.#file)
    this.#file = -1
  }

  /** Reads all existing files. */
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
        // The folder was removed, for example by `next build`.
        this.close()
        this.#start()
        return
      }
      if (size < this.#maxFileBytes) return
      this.#openNext()
    }
  }

  /** Continues with the file after this full one. */
  #openNext(): void {
    const left = this.#number
    this.close()
    this.#openFirst(left)
    if (this.#number > left + 1) this.#reader.lost(this.position)
    // A new process reads the last two files.
    for (const number of this.#numbers()) {
      if (number < this.#number - 1) rmSync(this.#path(number), { force: true })
    }
  }

  /** Opens the first file after the one with that number, or creates it. */
  #openFirst(after: number): void {
    for (;;) {
      const number = this.#numbers().find((existing) => existing > after)
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
        // A faster process has removed it. No process would read a new file of that name.
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
    // A line without an end is still being written.
    let begin = 0
    for (let end = bytes.indexOf('\n'); end !== -1 && end < length; end = bytes.indexOf('\n', begin)) {
      const line = bytes.toString('utf8', begin, end)
      begin = end + 1
      const position = this.position + begin
      // A damaged line is from a process that died while writing, or had a full disk.
      if (line !== '') parseChange(this.#reader, line, position)
    }
    this.#offset += begin
  }
}
