const NEWLINE = 0x0a
/** Longer lines are cut, in bytes: a worker that never ends its line must not fill the memory of the primary. */
const MAX_LINE = 2 ** 20

/** Splits output into lines and puts a prefix before each. Lines of JSON stay as they are. */
export class LinePrefix {
  readonly #prefix: Buffer
  /** The beginning of a line that has not ended yet. */
  #partial: Buffer[] = []
  #partialBytes = 0

  constructor(prefix: string) {
    this.#prefix = Buffer.from(prefix)
  }

  /** The whole lines that end in this chunk. Empty when there are none. */
  add(chunk: Buffer): Buffer {
    const parts: Buffer[] = []
    let start = 0
    for (let end = chunk.indexOf(NEWLINE); end !== -1; end = chunk.indexOf(NEWLINE, start)) {
      this.#keep(chunk.subarray(start, end + 1), parts)
      this.#endLine(parts)
      start = end + 1
    }
    this.#keep(chunk.subarray(start), parts)
    return Buffer.concat(parts)
  }

  /** The rest, a line without an end, with a line feed. */
  end(): Buffer {
    if (this.#partialBytes === 0) return Buffer.alloc(0)
    const parts: Buffer[] = []
    this.#partial.push(Buffer.from('\n'))
    this.#endLine(parts)
    return Buffer.concat(parts)
  }

  /** Keeps a piece of a line until its end, and cuts the line where it is too long. */
  #keep(piece: Buffer, parts: Buffer[]): void {
    let rest = piece
    while (this.#partialBytes + withoutEnd(rest) > MAX_LINE) {
      const room = MAX_LINE - this.#partialBytes
      this.#partial.push(rest.subarray(0, room), Buffer.from('\n'))
      this.#endLine(parts)
      rest = rest.subarray(room)
    }
    if (rest.length === 0) return
    this.#partial.push(rest)
    this.#partialBytes += rest.length
  }

  #endLine(parts: Buffer[]): void {
    const line = this.#partial.length === 1 ? this.#partial[0]! : Buffer.concat(this.#partial)
    if (isJson(line)) parts.push(line)
    else parts.push(this.#prefix, line)
    this.#partial = []
    this.#partialBytes = 0
  }
}

function withoutEnd(piece: Buffer): number {
  return piece.at(-1) === NEWLINE ? piece.length - 1 : piece.length
}

/** Whether a line is an object in the way that `JSON.stringify()` writes it. Parsing each line would cost too much. */
function isJson(line: Buffer): boolean {
  // Line feed, and maybe a carriage return before it.
  const end = line.at(-2) === 0x0d ? -3 : -2
  return line[0] === 0x7b && (line[1] === 0x22 || line[1] === 0x7d) && line.at(end) === 0x7d
}
