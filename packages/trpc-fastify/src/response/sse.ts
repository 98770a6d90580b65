// The body for `httpSubscriptionLink`: server-sent events. The bytes equal those of tRPC, which sends each event through three
// web streams.

import { isTrackedEnvelope } from '@trpc/server'
import { TextStream } from './text-stream.ts'

export interface EventStreamOptions {
  /** `serialize` of the transformer. */
  readonly serialize: (value: unknown) => unknown
  /** Reports an error of the subscription, and returns the shape to send. */
  readonly shapeOf: (error: unknown) => unknown
  /** Options for the client, as in tRPC's `sse.client`. */
  readonly client: object
  /** Time without an event before a ping is sent, in milliseconds. */
  readonly pingMs: number | undefined
  /** Id of the last event that a reconnecting client has received. */
  readonly lastEventId: string | null
}

/** A stream of the events of a subscription. */
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
    // A client cannot send such an id.
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

  /** Ends the stream without a `return` event, so that the client reconnects. */
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

  /** Uses no `await`: a function that waits for the next event would retain the last one. */
  #pump(): void {
    this.#isReading = true
    new Promise<IteratorResult<unknown>>((resolve) => resolve(this.#iterator.next())).then(
      (result) => this.#take(result),
      (error: unknown) => this.#handleError(error),
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
      return this.#handleError(error)
    }
    this.#ping?.refresh()
    this.add(text)
    if (this.isFull) this.#isReading = false
    else this.#pump()
  }

  #handleError(error: unknown): void {
    if (this.#isOver()) this.#report(error)
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
    // Browsers give an event without an id the last id, so it is cleared and restored.
    return `${text}id: \n\n\nevent: restore-id\ndata: \nid: ${this.#lastEventId}\n\n\n`
  }

  /** Reports an error after the end, although no client reads it. */
  #report(error: unknown): void {
    if (isAbortError(error)) return
    try {
      this.#options.shapeOf(error)
    } catch {
      // `onError` threw.
    }
  }

  #returnIterator(): void {
    new Promise((resolve) => resolve(this.#iterator.return?.())).catch((cause: unknown) => this.#report(cause))
  }
}

function eventOf(name: string, data: string): string {
  return `event: ${name}\ndata: ${data}\n\n\n`
}

function isAbortError(error: unknown): boolean {
  return typeof error === 'object' && error !== null && (error as { name?: unknown }).name === 'AbortError'
}
