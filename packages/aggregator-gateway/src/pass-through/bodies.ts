// The two bodies of a request that is handed on, each read no faster than it is taken.

import { Readable, Transform, type TransformCallback } from 'node:stream'
import { errorCodes } from 'fastify'

/** Who hands a request on. */
export interface Handing {
  /** Bytes went on. */
  progress: () => void
  /** The client takes more of the answer. */
  resume: () => void
  /** The client's body is too long, or it ended in the middle. */
  uploadFailed: (error: Error) => void
  /** The client has left, or has the answer. */
  leave: () => void
}

/** The client's body on its way to the upstream. */
export class Upload extends Transform {
  readonly #owner: Handing
  readonly #source: Readable
  readonly #most: number
  #size = 0

  constructor(owner: Handing, source: Readable, most: number) {
    super()
    this.#owner = owner
    this.#source = source
    this.#most = most
    this.on('error', ignore)
    source.once('error', failOf(owner)).once('aborted', leaveOf(owner)).pipe(this)
  }

  /** Whether the client is to send more. */
  get isWaiting(): boolean {
    return !this.#source.readableEnded && this.readableLength === 0
  }

  override _transform(chunk: Buffer, _encoding: BufferEncoding, done: TransformCallback): void {
    this.#size += chunk.length
    this.#owner.progress()
    if (this.#size <= this.#most) return done(null, chunk)
    this.#owner.uploadFailed(new errorCodes.FST_ERR_CTP_BODY_TOO_LARGE())
  }
}

/** The upstream's answer on its way to the client. */
export class Download extends Readable {
  readonly #owner: Handing

  constructor(owner: Handing) {
    super({ highWaterMark: 65_536 })
    this.#owner = owner
    // Hooks may keep it waiting for the one who listens.
    this.on('error', ignore)
  }

  override _read(): void {
    this.#owner.resume()
  }
}

function ignore(): void {}

// Functions of their own: closures that a constructor keeps would hold past requests in memory for longer.
function leaveOf(owner: Handing): () => void {
  return () => owner.leave()
}

function failOf(owner: Handing): (error: Error) => void {
  return (error) => owner.uploadFailed(error)
}
