// Comments in an event stream while its upstream pauses, so that proxies and clients see that the stream is alive.

/** A comment, which clients ignore. */
const COMMENT = Buffer.from(':\n\n')
/** The end of an event, with any of the three line ends. */
const END_OF_EVENT = /(?:\n\r?\n|\r\r)$/

/** The response that a heartbeat belongs to. */
export interface HeartbeatOwner {
  pushComment: (comment: Buffer) => void
}

export class Heartbeat {
  readonly #owner: HeartbeatOwner
  readonly #timer: NodeJS.Timeout
  /** The last bytes of the stream, at most four. */
  #tail = ''

  constructor(owner: HeartbeatOwner, interval: number) {
    this.#owner = owner
    this.#timer = setInterval(beat, interval, this)
  }

  /** The stream has gone on. */
  passed(chunk: Buffer): void {
    this.#tail = (this.#tail + chunk.subarray(-4).toString('latin1')).slice(-4)
    this.#timer.refresh()
  }

  /** Whether a pause is between two events. A comment within one would damage it. */
  get isBetweenEvents(): boolean {
    return this.#tail === '' || END_OF_EVENT.test(this.#tail)
  }

  beat(): void {
    if (this.isBetweenEvents) this.#owner.pushComment(COMMENT)
  }

  stop(): void {
    clearInterval(this.#timer)
  }
}

function beat(heartbeat: Heartbeat): void {
  heartbeat.beat()
}
