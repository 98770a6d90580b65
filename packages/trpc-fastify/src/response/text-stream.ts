import { Readable } from 'node:stream'

/** Maximum number of characters to collect in one event-loop tick. */
const MAX_LENGTH = 16_384

/** A stream of text with one chunk per event-loop tick. Node writes four pieces per chunk, and each write wakes the reader. */
export abstract class TextStream extends Readable {
  /** The buffer of this stream is full. */
  protected isFull = false
  /** Text of this tick. */
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
    if (this.#text.length >= MAX_LENGTH) this.flush()
  }

  /** Ends the stream after all added text. */
  protected finish(last = ''): void {
    this.#text += last
    this.flush()
    this.push(null)
  }

  /** Pushes the text of this tick. */
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
