// Removes interim responses from the bytes that a socket reads. Clients ignore unexpected ones (RFC 9110, 15.2), but undici 8
// ends the connection on `100 Continue`, without an option for it.

import type { Socket } from 'node:net'

const INTERIM = Buffer.from('HTTP/1.1 1')
/** The next bytes of `101 Switching Protocols`, which ends HTTP. */
const SWITCHING = Buffer.from('01')
const END_OF_HEAD = '\r\n\r\n'
/** Maximum bytes of an interim response; undici rejects a longer one. */
const MAX_INTERIM = 16_384

export class InterimFilter {
  readonly #read: Socket['read']
  /** No final response has begun. Later, the same bytes would be part of a body. */
  #isExpecting = false
  #hasInterim = false
  #held: Buffer | undefined

  constructor(socket: Socket) {
    this.#read = socket.read.bind(socket)
    // Streams call `read(0)` to fill their buffer.
    socket.read = (size) => (size === undefined ? this.#next() : this.#read(size))
  }

  /** Whether the current request got an interim response: the server has seen it then. */
  get hasInterim(): boolean {
    return this.#hasInterim
  }

  /** A request is sent: the next bytes begin a response. */
  expectResponse(): void {
    this.#isExpecting = true
    this.#hasInterim = false
    this.#held = undefined
  }

  #next(): Buffer | null {
    for (;;) {
      const chunk = this.#read() as Buffer | null
      if (chunk === null || !this.#isExpecting) return chunk
      const rest = this.#withoutInterim(this.#held ? Buffer.concat([this.#held, chunk]) : chunk)
      if (rest) return rest
    }
  }

  /** The bytes after interim responses; undefined if more bytes are needed to tell. */
  #withoutInterim(bytes: Buffer): Buffer | undefined {
    this.#held = undefined
    let start = 0
    while (isInterim(bytes, start)) {
      if (start === bytes.length) return undefined
      const end = bytes.indexOf(END_OF_HEAD, start)
      if (end === -1) {
        if (bytes.length - start > MAX_INTERIM) break
        this.#held = bytes.subarray(start)
        return undefined
      }
      this.#hasInterim = true
      start = end + END_OF_HEAD.length
    }
    this.#isExpecting = false
    return start === 0 ? bytes : bytes.subarray(start)
  }
}

/** Whether an interim response begins there, or may begin, as bytes are still missing. */
function isInterim(bytes: Buffer, start: number): boolean {
  const length = Math.min(bytes.length - start, INTERIM.length)
  if (INTERIM.compare(bytes, start, start + length, 0, length) !== 0) return false
  const rest = start + INTERIM.length
  return bytes.length < rest + SWITCHING.length || SWITCHING.compare(bytes, rest, rest + SWITCHING.length) !== 0
}
