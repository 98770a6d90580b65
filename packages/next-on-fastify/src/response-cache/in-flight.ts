// Request coalescing: Next serves the first of several concurrent requests for the same. The others wait for its end, and
// then use the cached response.

import { outsideRequests } from '../async-context/outside-requests.ts'

/** Maximum wait for a response, in ms. Next has requests wait for a page that is being rendered, too. */
const MAX_WAIT = 10_000

/** Maximum wait for the rest of a response after its head, in ms. Its client may be slow. */
const MAX_BODY_WAIT = 250

/** A response that is being rendered. */
interface Pending {
  /** Position in the changes at its start. Once that has moved on, no request waits, as it may stay uncached. */
  readonly position: number
  readonly ended: Promise<void>
}

/** A response that other requests wait for. */
export interface InFlight {
  headSent(): void
  /** The response has ended, or others should not wait any longer. */
  ended(): void
}

/** Responses that are being rendered, by key. */
export class InFlightRequests {
  readonly #pending = new Map<string, Pending>()

  /** Resolves at the end of another request for the same. Undefined if there is none since the last change. */
  end(key: string, position: number): Promise<void> | undefined {
    const pending = this.#pending.get(key)
    return pending?.position === position ? pending.ended : undefined
  }

  /** Lets other requests for the same wait from now on. */
  begin(key: string, position: number): InFlight {
    const { promise, resolve } = Promise.withResolvers<void>()
    const pending = { position, ended: promise }
    const ended = (): void => {
      clearTimeout(timer)
      if (this.#pending.get(key) === pending) this.#pending.delete(key)
      resolve()
    }
    let timer = outsideRequests(() => setTimeout(ended, MAX_WAIT).unref())
    this.#pending.set(key, pending)
    const headSent = (): void => {
      clearTimeout(timer)
      timer = outsideRequests(() => setTimeout(ended, MAX_BODY_WAIT).unref())
    }
    return { headSent, ended }
  }
}
