// A client that waits for an answer, and where in the app it waits: undici tells of a call where its connection was made,
// which was for the request of another client. Hooks and observers are called where this one's was taken in, so that they
// find what the app keeps in an AsyncLocalStorage for it, and never what it keeps for another.

import { AsyncResource } from 'node:async_hooks'
import type { FastifyReply } from 'fastify'
import { atEndOfTurn } from './end-of-turn.ts'

export class WaitingClient extends AsyncResource {
  readonly reply: FastifyReply
  #payload: unknown

  constructor(reply: FastifyReply) {
    super('WaitingClient', { requireManualDestroy: true })
    this.reply = reply
  }

  send(payload: unknown): void {
    this.runInAsyncScope(send, undefined, this.reply, payload)
  }

  /**
   * Sends it with the other answers that are ready in this turn of the event loop, when all that has come from upstreams
   * is read. A write wakes who reads it: one after the other they wake a proxy once. Measured with 100 connections and
   * answers of 900 bytes: 187 µs of CPU per request became 164, 239 became 211 and its p99 of 105 ms 78. With one
   * connection nothing changed. Refusals are sent so, too: at twice its load, a gateway with the default `queue` answered
   * 0.70 of what it can, and 0.60 when it refused at once.
   */
  sendAtEndOfTurn(payload: unknown): void {
    this.#payload = payload
    atEndOfTurn(this)
  }

  due(): void {
    this.send(this.#payload)
  }
}

function send(reply: FastifyReply, payload: unknown): void {
  try {
    reply.send(payload)
  } catch (cause) {
    reply.send(cause)
  }
}
