// Request coalescing: requests whose calls would send the same at the same time share one set of calls.

import type { FastifyReply, FastifyRequest } from 'fastify'
import { invalidOptionError } from '../options/invalid-option.ts'
import type { ResolvedEndpoint } from '../options/resolved.ts'
import type { Values } from '../request/placeholders.ts'
import { EndpointRequest } from './endpoint-request.ts'
import type { PlannedEndpoint } from './planned-endpoint.ts'
import { keyOf, renderCalls } from './render-calls.ts'

/** Hooks of a route that can change the inputs of its calls. */
const HOOKS = ['onRequest', 'preParsing', 'preValidation', 'preHandler'] as const

export class Coalescing {
  readonly #endpoint: PlannedEndpoint
  readonly #running = new Map<string, EndpointRequest>()

  constructor(endpoint: PlannedEndpoint) {
    this.#endpoint = endpoint
  }

  serve(request: FastifyRequest, reply: FastifyReply): void {
    const values: Values = { request, callValue: noValue }
    const rendered = renderCalls(this.#endpoint, values)
    const key = keyOf(this.#endpoint, rendered, values)
    const running = this.#running.get(key)
    if (running) return running.join(reply)
    const first = new EndpointRequest(this.#endpoint, request, rendered, forget(this.#running, key))
    this.#running.set(key, first)
    first.join(reply)
    first.start()
  }
}

/**
 * Whether requests of an endpoint are coalesced.
 *
 * @throws AGGREGATOR_GATEWAY_INVALID_OPTION for an endpoint with `coalesce` that cannot coalesce
 */
export function isCoalescing(
  { method, compose, coalesce, calls, route }: ResolvedEndpoint,
  where: string,
  ofGateway: boolean,
): boolean {
  const all = Object.values(calls)
  const obstacle =
    method !== 'GET'
      ? `the method ${method}`
      : typeof compose === 'function'
        ? 'a function in compose'
        : all.some((call) => call.forwardBody || call.method !== 'GET')
          ? 'calls other than GET'
          : undefined
  if (coalesce && obstacle) {
    throw invalidOptionError(`${where}.coalesce`, 'an endpoint that only uses GET and no function', obstacle)
  }
  const forwardsCredentials = all.some(({ forwardHeaders }) =>
    forwardHeaders.some((name) => name === 'authorization' || name === 'cookie'),
  )
  // Hooks may respond depending on the client, which the URL does not show.
  const hasHooks = HOOKS.some((name) => route[name] !== undefined)
  return coalesce ?? (ofGateway && !obstacle && !forwardsCredentials && !hasHooks)
}

/** No call has a response yet. */
function noValue(): undefined {
  return undefined
}

function forget(running: Map<string, EndpointRequest>, key: string): () => void {
  return () => running.delete(key)
}
