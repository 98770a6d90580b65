// HTTP/2 without TLS, by prior knowledge. Several requests share a connection.

import { type ClientHttp2Session, type ClientHttp2Stream, connect, constants } from 'node:http2'
import type { Cancel, Connection, OnEnd, RepeatedRequest } from './connection.ts'

/** Streams of a connection, unless the server allows fewer. Browsers use as many. */
const MAX_STREAMS = 100

export class Http2Connection implements Connection {
  readonly #session: ClientHttp2Session
  readonly #headers: Record<string, string>
  readonly #body: string | undefined
  #pending = 0
  #isOpen = true
  #error: Error | undefined

  constructor({ origin, method, path, headers, body }: RepeatedRequest) {
    this.#headers = { ...headers, ':method': method, ':path': path }
    this.#body = body
    this.#session = connect(origin)
    this.#session.on('error', (error) => {
      this.#error = error
      this.#isOpen = false
    })
    this.#session.once('goaway', () => (this.#isOpen = false))
  }

  get free(): number {
    if (!this.#isOpen || this.#session.closed || this.#session.destroyed) return 0
    const { maxConcurrentStreams = MAX_STREAMS } = this.#session.remoteSettings ?? {}
    return Math.max(0, Math.min(maxConcurrentStreams, MAX_STREAMS) - this.#pending)
  }

  send(onEnd: OnEnd): Cancel {
    this.#pending++
    let isCanceled = false
    const end = (outcome: number | Error): void => {
      this.#pending--
      if (!isCanceled) onEnd(outcome)
    }
    const stream = this.#open()
    if (stream instanceof Error) {
      setImmediate(end, stream)
      return () => (isCanceled = true)
    }
    let status = 0
    let error: Error | undefined
    let isComplete = false
    stream.once('response', (head) => (status = head[':status'] ?? 0))
    stream.once('end', () => (isComplete = true))
    stream.once('error', (reason) => (error = reason))
    stream.once('close', () => end(isComplete && status > 0 && !error ? status : (error ?? this.#lost())))
    stream.resume()
    return () => {
      isCanceled = true
      stream.close(constants.NGHTTP2_CANCEL)
    }
  }

  close(): void {
    this.#isOpen = false
    this.#session.destroy()
  }

  #open(): ClientHttp2Stream | Error {
    try {
      const stream = this.#session.request(this.#headers, { endStream: this.#body === undefined })
      if (this.#body !== undefined) stream.end(this.#body)
      return stream
    } catch (error) {
      this.#isOpen = false
      return error as Error
    }
  }

  #lost(): Error {
    return this.#error ?? new Error('The connection was closed before the response ended.')
  }
}
