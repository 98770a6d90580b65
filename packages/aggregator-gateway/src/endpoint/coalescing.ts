// Request coalescing: clients whose calls would send the same at the same time share one set of calls.

import type { FastifyReply, FastifyRequest } from 'fastify'
import { Aggregate, type PlannedEndpoint } from './endpoint-request.ts'
import type { Values } from '../request/placeholders.ts'
import { keyOf, renderCalls } from './rendered-calls.ts'

/** Answers the requests of an endpoint, equal ones at the same time together. */
export class Coalescing {
  readonly #endpoint: PlannedEndpoint
  readonly #running = new Map<string, Aggregate>()

  constructor(endpoint: PlannedEndpoint) {
    this.#endpoint = endpoint
  }

  answer(request: FastifyRequest, reply: FastifyReply): void {
    const values: Values = { request, callValue: noValue }
    const rendered = renderCalls(this.#endpoint, values)
    const key = keyOf(this.#endpoint, rendered, values)
    const running = this.#running.get(key)
    if (running) return running.join(reply)
    const aggregate = new Aggregate(this.#endpoint, request, rendered, forget(this.#running, key))
    this.#running.set(key, aggregate)
    aggregate.join(reply)
    aggregate.start()
  }
}

/** No call has a response yet. */
function noValue(): undefined {
  return undefined
}

function forget(running: Map<string, Aggregate>, key: string): () => void {
  return () => running.delete(key)
}
