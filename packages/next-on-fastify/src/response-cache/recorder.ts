// Records a response as Next sends it: status, headers in order, and the bytes of the body.

import type { ServerResponse } from 'node:http'
import { headersNow, headersSince } from './response-headers.ts'

/** A recorded response, without headers that were set before Next. */
export interface RecordedResponse<Body = Buffer> {
  readonly status: number
  /** Alternating names and values, as `writeHead` takes them. */
  readonly head: readonly string[]
  readonly body: Body
}

/** Why a response could not be recorded. */
export type Unrecordable = 'aborted' | 'failed' | 'headers' | 'too-big'

/** The wrapped methods of a response. */
interface Wrapped {
  readonly writeHead: (this: ServerResponse, status: number, ...rest: unknown[]) => ServerResponse
  readonly write: (this: ServerResponse, ...rest: unknown[]) => boolean
  readonly end: (this: ServerResponse, ...rest: unknown[]) => ServerResponse
}

/** The methods that write a cached response. */
export type WriteMethods = Pick<Wrapped, 'end' | 'writeHead'>

/** Callbacks of a recording. */
export interface Recorder {
  /** Called right before the head is sent. */
  head(status: number, head: readonly string[]): void
  recorded(response: RecordedResponse | Unrecordable): void
}

/** A response that can be recorded, or replaced by a cached one. */
export class TappedResponse {
  readonly response: ServerResponse
  /** The original methods, which bypass later wrappers. Those would compress a cached response again. */
  readonly methods: WriteMethods
  #recording: Recording | undefined

  /** Wraps the methods of this response, as compression does. So compressed bytes pass here, too. */
  constructor(response: ServerResponse) {
    const { writeHead, write, end } = response as unknown as Wrapped
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

  /** Records the response from now on. The recorder is called once, at the end or as soon as recording is impossible. */
  record(maxBytes: number, recorder: Recorder): void {
    const recording = new Recording(this.response, maxBytes, recorder)
    this.#recording = recording
    this.response.once('close', () => recording.end())
  }

  /** Discards the recording. */
  refuse(why: Unrecordable): void {
    this.#recording?.refuse(why)
  }
}

class Recording {
  readonly #response: ServerResponse
  readonly #maxBytes: number
  readonly #recorder: Recorder
  readonly #before: ReadonlyMap<string, string>
  #status = 0
  #head: string[] | undefined
  #chunks: Buffer[] = []
  #bytes = 0
  #isDone = false

  constructor(response: ServerResponse, maxBytes: number, recorder: Recorder) {
    this.#response = response
    this.#maxBytes = maxBytes
    this.#recorder = recorder
    this.#before = headersNow(response)
  }

  refuse(why: Unrecordable): void {
    this.#finish(why)
  }

  takeHead(status: number, rest: readonly unknown[]): void {
    this.#status = status
    // `headersSince` does not see headers and a status text that are passed to `writeHead`.
    if (rest.some((argument) => argument !== undefined)) this.refuse('headers')
    this.#head = headersSince(this.#response, this.#before)
    if (!this.#isDone && this.#head !== undefined) this.#recorder.head(status, this.#head)
  }

  take(chunk: unknown, encoding: unknown): void {
    if (this.#isDone || chunk === undefined || chunk === null || typeof chunk === 'function') return
    const taken =
      typeof chunk === 'string'
        ? Buffer.from(chunk, typeof encoding === 'string' ? (encoding as BufferEncoding) : 'utf8')
        : Buffer.from(chunk as Uint8Array)
    this.#bytes += taken.length
    if (this.#bytes > this.#maxBytes) this.refuse('too-big')
    else this.#chunks.push(taken)
  }

  end(): void {
    // Not `writableFinished`: `inject()` closes the response before its socket has taken the body.
    if (!this.#response.writableEnded) this.refuse('aborted')
    const head = this.#head
    this.#finish(head === undefined ? 'headers' : { status: this.#status, head, body: Buffer.concat(this.#chunks) })
  }

  #finish(response: RecordedResponse | Unrecordable): void {
    if (this.#isDone) return
    this.#isDone = true
    this.#chunks = []
    this.#recorder.recorded(response)
  }
}
