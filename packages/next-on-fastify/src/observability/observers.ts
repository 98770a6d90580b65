// Those who want to see what Next answers, such as metrics: what they are told, and when.

import { finished } from 'node:stream'
import type { FastifyBaseLogger } from 'fastify'
import type { Handle } from '../next/handler.ts'
import type { NextMemory } from '../response-cache/response-cache.ts'

/** A Next app, as its observers know it. */
export interface ObservedNext {
  /** The path that it answers under; empty for all paths. */
  readonly prefix: string
  /** What is kept of its answers, if anything is. */
  readonly memory: NextMemory | undefined
}

/** What became of a request that Next was asked. */
export interface NextAnswer {
  readonly method: string
  /** The URL as the client has sent it. */
  readonly url: string
  /** The status that went out; nothing when the client had left before. */
  readonly status: number | undefined
  /** Milliseconds from the question to the end of the answer, or until the client left. */
  readonly duration: number
  /** Whether the client left before the end. */
  readonly aborted: boolean
}

/**
 * Is told of each request that Next was asked, once, when its answer is over. Of answers from memory it is not told: they
 * are counted by the memory. What it throws is logged the first time, and breaks no answer.
 *
 * @example
 * const slowPages: NextObserver = {
 *   nextAnswered: (next, { url, duration }) => {
 *     if (duration > 500) app.log.warn({ url, duration }, 'slow page')
 *   },
 * }
 */
export interface NextObserver {
  /** A Next app is ready, or about to be closed. One observer may serve several. */
  nextOpened?(next: ObservedNext): void
  nextClosed?(next: ObservedNext): void
  nextAnswered?(next: ObservedNext, answer: NextAnswer): void
}

/** The observers of one Next app. */
export class Observers {
  readonly #observers: readonly NextObserver[]
  readonly #log: FastifyBaseLogger
  readonly #next: ObservedNext
  /** What has thrown: what fails for each answer would fill the log. */
  readonly #faulty = new Set<string>()

  constructor(observers: readonly NextObserver[], log: FastifyBaseLogger, next: ObservedNext) {
    this.#observers = observers
    this.#log = log
    this.#next = next
  }

  opened(): void {
    this.#tell('nextOpened', (observer) => observer.nextOpened?.(this.#next))
  }

  closed(): void {
    this.#tell('nextClosed', (observer) => observer.nextClosed?.(this.#next))
  }

  /** What answers, and tells of it. */
  watched(answer: Handle): Handle {
    if (!this.#observers.some((observer) => 'nextAnswered' in observer)) return answer
    return (request, response) => {
      // Next may write to the request while it answers.
      const { method = '', url = '' } = request
      const start = performance.now()
      finished(response, (left) => {
        const status = response.headersSent ? response.statusCode : undefined
        const duration = performance.now() - start
        const told = { method, url, status, duration, aborted: left !== undefined && left !== null }
        this.#tell('nextAnswered', (observer) => observer.nextAnswered?.(this.#next, told))
      })
      return answer(request, response)
    }
  }

  #tell(name: keyof NextObserver, tell: (observer: NextObserver) => void): void {
    for (const [index, observer] of this.#observers.entries()) {
      try {
        tell(observer)
      } catch (err) {
        const where = `observers[${index}].${name}`
        if (this.#faulty.has(where)) continue
        this.#faulty.add(where)
        this.#log.error({ err, observer: where }, 'an observer of Next has thrown; this is said once')
      }
    }
  }
}
