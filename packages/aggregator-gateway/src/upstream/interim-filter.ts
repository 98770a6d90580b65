// Takes interim responses out of what a socket reads. Clients ignore those that they have not asked for (RFC 9110, 15.2);
// undici 8 ends the connection on `100 Continue`, and has no option for it.

import type { Socket } from 'node:net'

const INTERIM = Buffer.from('HTTP/1.1 1')
/** The bytes that follow in `101 Switching Protocols`, after which HTTP is over. */
const SWITCHING = Buffer.from('01')
const END_OF_HEAD = '\r\n\r\n'
/** Maximum bytes of an interim response; undici refuses one that is longer. */
const MOST = 16_384

export class InterimFilter {
  readonly #read: Socket['read']
  /** Nothing of a final response has come yet: later, the same bytes would be a part of a body. */
  #isExpecting = false
  #hasInterim = false
  #held: Buffer | undefined

  constructor(socket: Socket) {
    this.#read = socket.read.bind(socket)
    // Streams themselves call `read(0)` to have more read.
    socket.read = (size) => (size === undefined ? this.#next() : this.#read(size))
  }

  /** Whether the current request has got an interim response: then the server has seen it. */
  get hasInterim(): boolean {
    return this.#hasInterim
  }

  /** A request is sent: what comes next is the beginning of a response. */
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

  /** What follows the interim responses; nothing as long as more must come to tell. */
  #withoutInterim(bytes: Buffer): Buffer | undefined {
    this.#held = undefined
    let start = 0
    while (isInterim(bytes, start)) {
      if (start === bytes.length) return undefined
      const end = bytes.indexOf(END_OF_HEAD, start)
      if (end === -1) {
        if (bytes.length - start > MOST) break
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

/** Whether an interim response begins there, as far as can be told from what is there. */
function isInterim(bytes: Buffer, start: number): boolean {
  const length = Math.min(bytes.length - start, INTERIM.length)
  if (INTERIM.compare(bytes, start, start + length, 0, length) !== 0) return false
  const rest = start + INTERIM.length
  return bytes.length < rest + SWITCHING.length || SWITCHING.compare(bytes, rest, rest + SWITCHING.length) !== 0
}
