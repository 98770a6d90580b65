import type { FastifyReply } from 'fastify'
import { PendingReply } from '../runtime/pending-reply.ts'

/** The clients that wait for one response: more than one if their requests are coalesced. */
export class Replies {
  readonly #waiting: PendingReply[] = []
  /** The calls run in the async context of the first client, even after it has left. */
  #first: PendingReply | undefined

  get waiting(): readonly PendingReply[] {
    return this.#waiting
  }

  add(reply: FastifyReply): PendingReply {
    const pending = new PendingReply(reply)
    this.#first ??= pending
    this.#waiting.push(pending)
    return pending
  }

  remove(pending: PendingReply): void {
    this.#waiting.splice(this.#waiting.indexOf(pending), 1)
  }

  /** Runs code in the async context of the first client. */
  run(code: () => void): void {
    this.#first!.runInAsyncScope(code)
  }

  sendBatched(payload: unknown): void {
    for (const pending of this.#waiting) pending.sendBatched(payload)
  }
}
