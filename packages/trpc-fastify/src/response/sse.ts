// The answer to `httpSubscriptionLink`: server-sent events, written straight to the connection. The
// bytes are those of tRPC's own stream, which goes through three web streams for each event.

import { isTrackedEnvelope } from '@trpc/server'
import { TextStream } from './text-stream.ts'

export interface EventStreamOptions {
  /** The transformer's. */
  readonly serialize: (value: unknown) => unknown
  /** Told of an error of the subscription; gives the shape that is sent. */
  readonly shapeOf: (error: unknown) => unknown
  /** What the client is to know, as in tRPC's `sse.client`. */
  readonly client: object
  /** Milliseconds without an event after which a ping is sent. */
  readonly pingMs: number | undefined
  /** The id of the last event that the client has seen, when it comes back. */
  readonly lastEventId: string | null
}

/** Events of a subscription, as they come. */
export class EventStream extends TextStream {
  readonly #iterator: AsyncIterator<unknown>
  readonly #options: EventStreamOptions
  #lastEventId: string | null
  #isReading = false
  #isEnding = false
  #ping: NodeJS.Timeout | undefined

  constructor(iterable: AsyncIterable<unknown>, options: EventStreamOptions) {
    super()
    this.#iterator = iterable[Symbol.asyncIterator]()
    this.#options = options
    // An id with these characters cannot be sent back.
    const id = options.lastEventId
    this.#lastEventId = id && !/[\0\n\r]/.test(id) ? id : null
    this.add(eventOf('connected', JSON.stringify(options.client)))
    const { pingMs } = options
    if (pingMs && pingMs !== Number.POSITIVE_INFINITY) {
      this.#ping = setTimeout(() => {
        this.add(eventOf('ping', ''))
        this.#ping!.refresh()
      }, pingMs)
    }
  }

  /** Ends the stream without a word to the client, which then comes back. */
  stop(): void {
    if (this.#isOver()) return
    this.#returnIterator()
    this.#end()
  }

  override _read(): void {
    super._read()
    if (!this.#isReading) this.#pump()
  }

  override _destroy(error: Error | null, done: (error: Error | null) => void): void {
    clearTimeout(this.#ping)
    if (!this.#isEnding) this.#returnIterator()
    done(error)
  }

  /** Without `await`: a function that waits for the next event would hold the one before. */
  #pump(): void {
    this.#isReading = true
    new Promise<IteratorResult<unknown>>((resolve) => resolve(this.#iterator.next())).then(
      (result) => this.#take(result),
      (error: unknown) => this.#stumble(error),
    )
  }

  #take({ done, value }: IteratorResult<unknown>): void {
    if (this.#isOver()) return
    if (done) return this.#end(eventOf('return', ''))
    let text: string
    try {
      text = this.#textOf(value)
    } catch (error) {
      this.#returnIterator()
      return this.#stumble(error)
    }
    this.#ping?.refresh()
    this.add(text)
    if (this.isFull) this.#isReading = false
    else this.#pump()
  }

  #stumble(error: unknown): void {
    if (this.#isOver()) this.#tell(error)
    else this.#fail(error)
    this.#isReading = false
  }

  #isOver(): boolean {
    return this.destroyed || this.#isEnding
  }

  #end(last = ''): void {
    this.#isEnding = true
    clearTimeout(this.#ping)
    this.finish(last)
  }

  #fail(error: unknown): void {
    if (isAbortError(error)) return this.#end()
    try {
      const shape = this.#options.shapeOf(error) ?? null
      this.#end(eventOf('serialized-error', JSON.stringify(this.#options.serialize(shape))))
    } catch (cause) {
      this.flush()
      this.destroy(cause as Error)
    }
  }

  #textOf(value: unknown): string {
    const { serialize } = this.#options
    const isTracked = isTrackedEnvelope(value)
    const data = JSON.stringify(serialize(isTracked ? value[1] : value)) as string | undefined
    const text = `data: ${data}\n`
    if (isTracked) {
      this.#lastEventId = value[0]
      return `${text}id: ${value[0]}\n\n\n`
    }
    if (this.#lastEventId === null) return `${text}\n\n`
    // An event without an id would get the last one in the browser: it is cleared, and set again.
    return `${text}id: \n\n\nevent: restore-id\ndata: \nid: ${this.#lastEventId}\n\n\n`
  }

  /** Nobody is there any more to be sent an error, but somebody may log it. */
  #tell(error: unknown): void {
    if (isAbortError(error)) return
    try {
      this.#options.shapeOf(error)
    } catch {
      // Whoever is told threw.
    }
  }

  #returnIterator(): void {
    new Promise((resolve) => resolve(this.#iterator.return?.())).catch((cause: unknown) => this.#tell(cause))
  }
}

function eventOf(name: string, data: string): string {
  return `event: ${name}\ndata: ${data}\n\n\n`
}

function isAbortError(error: unknown): boolean {
  return typeof error === 'object' && error !== null && (error as { name?: unknown }).name === 'AbortError'
}
