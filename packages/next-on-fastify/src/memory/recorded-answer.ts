// An answer as Next gave it: status, headers in their order, and the bytes that went to the client.

import type { OutgoingHttpHeader, ServerResponse } from 'node:http'

/** What Next answered, without what was there before Next was asked. */
export interface RecordedAnswer {
  readonly status: number
  /** Names and values in turn, as `writeHead` takes them. */
  readonly head: readonly string[]
  readonly body: Buffer
}

/** Why an answer could not be recorded. */
export type Unrecorded = 'aborted' | 'headers' | 'too-big'

// Node writes them as the connection needs it.
const OF_CONNECTION = new Set(['connection', 'date', 'keep-alive', 'trailer', 'transfer-encoding', 'upgrade'])

/** It is there for each message that goes out, and typed for requests only. */
interface RawHeaderNames {
  getRawHeaderNames(): string[]
}

/** What is covered: they are methods, and called as such. */
interface Covered {
  readonly writeHead: (this: ServerResponse, status: number, ...rest: unknown[]) => ServerResponse
  readonly write: (this: ServerResponse, ...rest: unknown[]) => boolean
  readonly end: (this: ServerResponse, ...rest: unknown[]) => ServerResponse
}

/**
 * Records what is written to a response, and calls back once all of it has left.
 *
 * The methods of this one response are covered, as compression does it: what Next compresses comes by here as it leaves.
 */
export function recordAnswer(
  response: ServerResponse,
  mostBytes: number,
  done: (answer: RecordedAnswer | Unrecorded) => void,
): void {
  const before = new Map(response.getHeaderNames().map((name) => [name, String(response.getHeader(name))]))
  const { writeHead, write, end } = response as unknown as Covered
  let status = 0
  let head: string[] | undefined
  let chunks: Buffer[] = []
  let bytes = 0
  let refused: Unrecorded | undefined

  const refuse = (why: Unrecorded): void => {
    refused ??= why
    chunks = []
  }
  const take = (chunk: unknown, encoding: unknown): void => {
    if (refused !== undefined || chunk === undefined || chunk === null || typeof chunk === 'function') return
    const taken =
      typeof chunk === 'string'
        ? Buffer.from(chunk, typeof encoding === 'string' ? (encoding as BufferEncoding) : 'utf8')
        : Buffer.from(chunk as Uint8Array)
    bytes += taken.length
    if (bytes > mostBytes) refuse('too-big')
    else chunks.push(taken)
  }

  Object.assign(response, {
    writeHead(this: ServerResponse, code: number, ...rest: unknown[]) {
      status = code
      // Headers and a status text of its own do not pass by where the others are read.
      if (rest.some((argument) => argument !== undefined)) refuse('headers')
      head = headOf(response, before)
      return writeHead.call(this, code, ...rest)
    },
    write(this: ServerResponse, chunk: unknown, ...rest: unknown[]) {
      take(chunk, rest[0])
      return write.call(this, chunk, ...rest)
    },
    end(this: ServerResponse, chunk: unknown, ...rest: unknown[]) {
      take(chunk, rest[0])
      return end.call(this, chunk, ...rest)
    },
  })

  response.once('close', () => {
    if (!response.writableFinished) refuse('aborted')
    if (head === undefined) refuse('headers')
    done(refused ?? { status, head: head ?? [], body: Buffer.concat(chunks) })
  })
}

/** The headers that were set since, or nothing where those that were there before have changed. */
function headOf(response: ServerResponse, before: ReadonlyMap<string, string>): string[] | undefined {
  const head: string[] = []
  let unchanged = 0
  for (const name of (response as unknown as RawHeaderNames).getRawHeaderNames()) {
    const value = response.getHeader(name)
    const there = before.get(name.toLowerCase())
    if (there !== undefined) {
      if (there !== String(value)) return undefined
      unchanged++
    } else if (OF_CONNECTION.has(name.toLowerCase())) {
      return undefined
    } else {
      for (const one of valuesOf(value)) head.push(name, one)
    }
  }
  return unchanged === before.size ? head : undefined
}

function valuesOf(value: OutgoingHttpHeader | undefined): string[] {
  return Array.isArray(value) ? value : [String(value)]
}
