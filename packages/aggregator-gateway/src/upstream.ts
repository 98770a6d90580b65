// The servers that calls go to: a bounded pool of connections for each origin.

import { Pool } from 'undici'

/** An upstream: one server, or several that give the same answers. */
export interface UpstreamOptions {
  /** Where it is, such as `http://orders:3000`; of several origins, the one with the fewest calls is taken. */
  origin: string | readonly string[]
  /** The most connections to an origin. @default 64 */
  connections?: number
  /** The most calls that wait for a connection to an origin; those beyond fail at once. @default 256 */
  queue?: number
  /** Milliseconds that connecting may take. @default 1000 */
  connectTimeout?: number
  /** The most bytes of an answer. @default 1048576 */
  maxResponseSize?: number
}

interface Origin {
  readonly pool: Pool
  /** Calls that are not over. */
  pending: number
}

/** The most bytes of an answer's headers; 10,000 headers are no answer. */
const MAX_HEADER_SIZE = 16_384

export class Upstream {
  readonly name: string
  readonly maxResponseSize: number
  readonly #origins: readonly Origin[]
  readonly #mostPending: number
  #next = 0

  constructor(name: string, options: UpstreamOptions) {
    const { origin, connections = 64, queue = 256, connectTimeout = 1000, maxResponseSize = 1_048_576 } = options
    this.name = name
    this.maxResponseSize = maxResponseSize
    this.#mostPending = connections + queue
    this.#origins = [origin].flat().map((url) => ({
      // HTTP/2 and pipelining were slower, and an answer that hangs would hold up those behind it.
      pool: new Pool(url, {
        connections,
        pipelining: 1,
        allowH2: false,
        maxResponseSize,
        maxHeaderSize: MAX_HEADER_SIZE,
        // The deadline of the request ends calls: one timer, where these would be two for each call.
        headersTimeout: 0,
        bodyTimeout: 0,
        connect: { timeout: connectTimeout },
      }),
      pending: 0,
    }))
  }

  /** The origin that a call goes to; nothing when each has as many as it may have. */
  choose(): Origin | undefined {
    const origins = this.#origins
    const start = this.#next++ % origins.length
    let best = origins[start]!
    for (let step = 1; step < origins.length; step++) {
      const other = origins[(start + step) % origins.length]!
      if (other.pending < best.pending) best = other
    }
    return best.pending < this.#mostPending ? best : undefined
  }

  async close(): Promise<void> {
    await Promise.all(this.#origins.map(({ pool }) => pool.destroy()))
  }
}
