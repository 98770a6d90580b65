// Clients that ask the same while it is being answered get that answer: the calls are made once.

import type { FastifyReply, FastifyRequest } from 'fastify'
import { Aggregate, type PlannedEndpoint } from './aggregate.ts'

/** Answers the requests of an endpoint, those that are alike and at the same time together. */
export class Coalescing {
  readonly #endpoint: PlannedEndpoint
  /** Headers of the client that reach an upstream: with others, it is another question. */
  readonly #headers: readonly string[]
  readonly #running = new Map<string, Aggregate>()

  constructor(endpoint: PlannedEndpoint) {
    const { calls } = endpoint
    this.#endpoint = endpoint
    this.#headers = [...new Set(calls.flatMap(({ forwardHeaders, path }) => [...forwardHeaders, ...path.headers]))]
  }

  answer(request: FastifyRequest, reply: FastifyReply): void {
    const key = this.#keyOf(request)
    const running = this.#running.get(key)
    if (running) return running.join(reply)
    const aggregate = new Aggregate(this.#endpoint, request, forget(this.#running, key))
    this.#running.set(key, aggregate)
    aggregate.join(reply)
    aggregate.start()
  }

  #keyOf({ url, headers }: FastifyRequest): string {
    if (this.#headers.length === 0) return url
    // What `connection` names is not handed on, so it is a part of the question too.
    return JSON.stringify([url, headers.connection, ...this.#headers.map((name) => headers[name])])
  }
}

function forget(running: Map<string, Aggregate>, key: string): () => void {
  return () => running.delete(key)
}
