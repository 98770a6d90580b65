import type { FastifyBaseLogger } from 'fastify'

/** Logs when something fails, and when it works again, once each. It may fail for every request. */
export class Availability {
  readonly #log: FastifyBaseLogger
  readonly #messages: { readonly works: string; readonly fails: string }
  #isFailing = false

  constructor(log: FastifyBaseLogger, messages: { readonly works: string; readonly fails: string }) {
    this.#log = log
    this.#messages = messages
  }

  works(): void {
    if (this.#isFailing) this.#log.info(this.#messages.works)
    this.#isFailing = false
  }

  fails(err: unknown): void {
    if (!this.#isFailing) this.#log.error({ err }, this.#messages.fails)
    this.#isFailing = true
  }
}
