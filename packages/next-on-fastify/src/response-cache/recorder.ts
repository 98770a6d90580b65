// An answer as Next gave it: status, headers in their order, and the bytes that went to the client.

import type { OutgoingHttpHeader, ServerResponse } from 'node:http'

/** What Next answered, without what was there before Next was asked. */
export interface RecordedAnswer<Body = Buffer> {
  readonly status: number
  /** Names and values in turn, as `writeHead` takes them. */
  readonly head: readonly string[]
  readonly body: Body
}

/** The names and values of a head. */
export function pairsOf(head: readonly string[]): (readonly [name: string, value: string])[] {
  return Array.from({ length: head.length / 2 }, (_, index) => [head[index * 2] ?? '', head[index * 2 + 1] ?? ''])
}

/** The first value of a header, by its name in lower case. */
export function valueOf(head: readonly string[], wanted: string): string | undefined {
  return pairsOf(head).find(([name]) => name.toLowerCase() === wanted)?.[1]
}

/** Why an answer could not be recorded. */
export type Unrecorded = 'aborted' | 'failed' | 'headers' | 'too-big'

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

/** What writes an answer. */
export type Writing = Pick<Covered, 'end' | 'writeHead'>

/** Who is told of what is recorded. */
export interface Recorder {
  /** The head is there. */
  headed(): void
  recorded(answer: RecordedAnswer | Unrecorded): void
}

/** A response whose answer can be recorded, or written in place of what is about to be. */
export class CoveredResponse {
  readonly response: ServerResponse
  /** What writes past all that has covered the response since, which would compress an answer again. */
  readonly methods: Writing
  #recording: Recording | undefined

  /**
   * The methods of this one response are covered, as compression does it: what Next compresses comes by here as it leaves.
   */
  constructor(response: ServerResponse) {
    const { writeHead, write, end } = response as unknown as Covered
    this.response = response
    this.methods = { writeHead, end }
    const recording = (): Recording | undefined => this.#recording
    Object.assign(response, {
      writeHead(this: ServerResponse, status: number, ...rest: unknown[]) {
        recording()?.takeHead(status, rest)
        return writeHead.call(this, status, ...rest)
      },
      write(this: ServerResponse, chunk: unknown, ...rest: unknown[]) {
        recording()?.take(chunk, rest[0])
        return write.call(this, chunk, ...rest)
      },
      end(this: ServerResponse, chunk: unknown, ...rest: unknown[]) {
        recording()?.take(chunk, rest[0])
        return end.call(this, chunk, ...rest)
      },
    })
  }

  /**
   * Records what is written from now on, and tells of it once all has left, or as soon as it shows that it cannot be recorded.
   * Headers that are there are not part of it.
   */
  record(mostBytes: number, recorder: Recorder): void {
    const recording = new Recording(this.response, mostBytes, recorder)
    this.#recording = recording
    this.response.once('close', () => recording.end())
  }

  /** Lets what is recorded not be taken for an answer. */
  refuse(why: Unrecorded): void {
    this.#recording?.refuse(why)
  }
}

/** What is written to a response. */
class Recording {
  readonly #response: ServerResponse
  readonly #mostBytes: number
  readonly #recorder: Recorder
  readonly #before: ReadonlyMap<string, string>
  #status = 0
  #head: string[] | undefined
  #chunks: Buffer[] = []
  #bytes = 0
  #isDone = false

  constructor(response: ServerResponse, mostBytes: number, recorder: Recorder) {
    this.#response = response
    this.#mostBytes = mostBytes
    this.#recorder = recorder
    this.#before = headersNow(response)
  }

  refuse(why: Unrecorded): void {
    this.#finish(why)
  }

  takeHead(status: number, rest: readonly unknown[]): void {
    this.#status = status
    // Headers and a status text of its own do not pass by where the others are read.
    if (rest.some((argument) => argument !== undefined)) this.refuse('headers')
    this.#head = headersSince(this.#response, this.#before)
    if (!this.#isDone) this.#recorder.headed()
  }

  take(chunk: unknown, encoding: unknown): void {
    if (this.#isDone || chunk === undefined || chunk === null || typeof chunk === 'function') return
    const taken =
      typeof chunk === 'string'
        ? Buffer.from(chunk, typeof encoding === 'string' ? (encoding as BufferEncoding) : 'utf8')
        : Buffer.from(chunk as Uint8Array)
    this.#bytes += taken.length
    if (this.#bytes > this.#mostBytes) this.refuse('too-big')
    else this.#chunks.push(taken)
  }

  end(): void {
    if (!this.#response.writableFinished) this.refuse('aborted')
    const head = this.#head
    this.#finish(head === undefined ? 'headers' : { status: this.#status, head, body: Buffer.concat(this.#chunks) })
  }

  #finish(answer: RecordedAnswer | Unrecorded): void {
    if (this.#isDone) return
    this.#isDone = true
    this.#chunks = []
    this.#recorder.recorded(answer)
  }
}

/** Headers by whose value Next decides what it sets itself, or compresses. */
const DECISIVE =
  /^(?:accept-ranges|cache-control|content-.*|etag|last-modified|transfer-encoding|vary|x-next.*|x-powered-by)$/

/** What of the headers that are there before Next answers decides how it does: it leaves out some that are there. */
export function decisive(headers: Iterable<readonly [name: string, value: string]>): string {
  let key = ''
  for (const [name, value] of headers) {
    const lower = name.toLowerCase()
    key += DECISIVE.test(lower) ? `\n${lower}: ${value}` : `\n${lower}`
  }
  return key
}

/** The headers of a response, by names in lower case. */
export function headersNow(response: ServerResponse): Map<string, string> {
  return new Map(response.getHeaderNames().map((name) => [name, String(response.getHeader(name))]))
}

/** The names and values in turn that were set since, or nothing where those that were there before have changed. */
export function headersSince(response: ServerResponse, before: ReadonlyMap<string, string>): string[] | undefined {
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
