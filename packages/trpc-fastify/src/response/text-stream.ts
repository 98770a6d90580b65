import { Readable } from 'node:stream'

/** Characters that are sent without waiting for more of the same turn. */
const FULL = 16_384

/**
 * A stream of text that is one chunk for each turn of the event loop: of each chunk Node makes four pieces, and each write
 * wakes who reads it.
 */
export abstract class TextStream extends Readable {
  /** Whoever reads has enough for now, until `_read` is called. */
  protected isFull = false
  /** What this turn has brought so far. */
  #text = ''

  constructor() {
    super({ encoding: 'utf8' })
  }

  override _read(): void {
    this.isFull = false
  }

  protected add(text: string): void {
    if (this.#text === '') setImmediate(flush, this)
    this.#text += text
    if (this.#text.length >= FULL) this.flush()
  }

  /** Ends the stream after all that was added. */
  protected finish(last = ''): void {
    this.#text += last
    this.flush()
    this.push(null)
  }

  /** Hands on what the turn has brought. */
  flush(): void {
    if (this.#text === '' || this.destroyed) return
    const text = this.#text
    this.#text = ''
    this.isFull = !this.push(text)
  }
}

function flush(stream: TextStream): void {
  stream.flush()
}
