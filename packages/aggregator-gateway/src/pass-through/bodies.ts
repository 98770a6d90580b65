// The two bodies of a proxied request. Each is read no faster than it is written.

import { Readable, Transform, type TransformCallback } from 'node:stream'
import { errorCodes } from 'fastify'

/** The request that an upload belongs to. */
export interface UploadOwner {
  /** Bytes were transferred. */
  progress: () => void
  /** The client's body is too long, or it ended early. */
  uploadFailed: (error: Error) => void
  /** The client has closed the connection. */
  leave: () => void
}

/** The request that a download belongs to. */
export interface DownloadOwner {
  /** The client reads on. */
  resume: () => void
}

/** The client's body on its way to the upstream. */
export class Upload extends Transform {
  readonly #owner: UploadOwner
  readonly #source: Readable
  readonly #maxBytes: number
  #size = 0

  constructor(owner: UploadOwner, source: Readable, maxBytes: number) {
    super()
    this.#owner = owner
    this.#source = source
    this.#maxBytes = maxBytes
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
    if (this.#size <= this.#maxBytes) return done(null, chunk)
    this.#owner.uploadFailed(new errorCodes.FST_ERR_CTP_BODY_TOO_LARGE())
  }
}

/** The upstream's body on its way to the client. */
export class Download extends Readable {
  readonly #owner: DownloadOwner

  constructor(owner: DownloadOwner) {
    super({ highWaterMark: 65_536 })
    this.#owner = owner
    // Hooks may delay the reader, which adds the listener of its own.
    this.on('error', ignore)
  }

  override _read(): void {
    this.#owner.resume()
  }
}

function ignore(): void {}

// Separate functions: closures that a constructor keeps hold past requests in memory for longer.
function leaveOf(owner: UploadOwner): () => void {
  return () => owner.leave()
}

function failOf(owner: UploadOwner): (error: Error) => void {
  return (error) => owner.uploadFailed(error)
}
