// Streams that no timeout ends: event streams with a heartbeat. They end when their gateway closes.

/** A stream that no timeout ends. */
export interface EndlessStream {
  /** Ends it as if its upstream had ended it. */
  finish: () => void
}

const all = new Set<EndlessStreams>()

/** The endless streams of one endpoint. */
export class EndlessStreams {
  readonly #streams = new Set<EndlessStream>()

  add(stream: EndlessStream): void {
    all.add(this)
    this.#streams.add(stream)
  }

  delete(stream: EndlessStream): void {
    this.#streams.delete(stream)
    if (this.#streams.size === 0) all.delete(this)
  }

  finish(): void {
    for (const stream of this.#streams) stream.finish()
  }
}

/** Ends the endless streams of this process. */
export function finishEndlessStreams(): void {
  for (const streams of all) streams.finish()
}
