// Makes the response of an endpoint from the outcomes of its calls.

import type { FastifyReply, FastifyRequest } from 'fastify'
import type { CallOutcome } from '../call/outcome.ts'
import type { PlannedCall } from '../call/planned-call.ts'
import { UpstreamStatusError } from '../errors.ts'
import { type CallFailure, errorFor } from '../failure-reasons.ts'
import { markLogged } from '../logged-errors.ts'
import type { PlannedEndpoint } from './planned-endpoint.ts'
import type { Replies } from './waiting-clients.ts'

const JSON_CONTENT = 'application/json; charset=utf-8'

/** The calls of a request that is complete. */
export interface CompleteCalls {
  readonly endpoint: PlannedEndpoint
  readonly request: FastifyRequest
  readonly outcomes: readonly CallOutcome[]
  /** Duration of each call in ms, if there is a `server-timing` header. */
  readonly durations: readonly (number | undefined)[] | undefined
}

/** Sends the response to all clients. */
export function respond(calls: CompleteCalls, replies: Replies): void {
  const { endpoint, outcomes } = calls
  const failure = failureOfAll(endpoint, outcomes)
  if (failure) {
    for (const pending of replies.waiting) {
      addHeaders(pending.reply, calls)
      pending.sendBatched(failure)
    }
    return
  }
  try {
    if (!endpoint.compose) return respondWithValue(calls, replies)
    const text = endpoint.compose(outcomes)
    for (const pending of replies.waiting) {
      addHeaders(pending.reply, calls).type(JSON_CONTENT).serializer(unchanged)
      pending.sendBatched(text)
    }
  } catch (cause) {
    for (const pending of replies.waiting) pending.send(cause)
  }
}

/** Sends the value that the user's function returns. */
function respondWithValue(calls: CompleteCalls, replies: Replies): void {
  const { endpoint, request, outcomes } = calls
  // Parsed for each request: changes by the user's function must not reach other responses.
  const values = endpoint.calls.map(({ name }, index) => {
    const outcome = outcomes[index]!
    return [name, 'body' in outcome ? outcome.body.freshValue() : null]
  })
  const send = (value: unknown): void => {
    for (const pending of replies.waiting) {
      addHeaders(pending.reply, calls)
      pending.send(value)
    }
  }
  const value = endpoint.composeValues!(Object.fromEntries(values) as Record<string, unknown>, request)
  Promise.resolve(value).then(send, send)
}

/** The error of a request whose calls were all optional and have all failed. */
function failureOfAll({ calls, needsAny }: PlannedEndpoint, outcomes: readonly CallOutcome[]): Error | undefined {
  if (!needsAny) return undefined
  const made = [...outcomes.entries()].filter(([, outcome]) => !('isSkipped' in outcome))
  const failures = made.flatMap(([index, outcome]) => {
    const failure = failureOf(outcome)
    return failure ? [[index, failure] as const] : []
  })
  if (failures.length < made.length || made.length === 0) return undefined
  const [index, failure] = failures.reduce((first, other) => (rank(other[1]) < rank(first[1]) ? other : first))
  const error = plainErrorOf(calls[index]!, failure)
  // That of several calls is not in the log: each of them is, as optional.
  return calls.length === 1 ? markLogged(error) : error
}

/** The failure of a call without any response, also if it was made for several items. */
function failureOf(outcome: CallOutcome): CallFailure | undefined {
  if ('failure' in outcome) return outcome.failure
  if (!('missing' in outcome) || outcome.missing.count < outcome.missing.of) return undefined
  return outcome.missing.failure
}

/** A timeout is reported only without other failures, a failed dependency never. */
function rank({ reason }: CallFailure): number {
  return reason === 'dependency' ? 2 : reason === 'timeout' ? 1 : 0
}

/** Adds headers for missing calls and for durations. */
function addHeaders(reply: FastifyReply, { endpoint, outcomes, durations }: CompleteCalls): FastifyReply {
  const { calls, hasOptional } = endpoint
  if (hasOptional) {
    const missing = calls.flatMap(({ name }, index) => {
      const outcome = outcomes[index]!
      if ('failure' in outcome) return `${name};reason=${outcome.failure.reason}`
      if (!('missing' in outcome)) return []
      const { failure, count } = outcome.missing
      return `${name};reason=${failure.reason};items=${count}`
    })
    reply.header('x-gateway-complete', missing.length === 0 ? 'true' : 'false')
    if (missing.length > 0) reply.header('x-gateway-missing', missing.join(', '))
  }
  if (durations) {
    const entries = calls.flatMap(({ name }, index) =>
      durations[index] === undefined ? [] : `${name};dur=${durations[index].toFixed(1)}`,
    )
    if (entries.length > 0) reply.header('server-timing', entries.join(', '))
  }
  return reply
}

/** The error of a request that fails with this call, whose failure is in the log. */
export function errorOf(call: PlannedCall, failure: CallFailure): Error {
  return markLogged(withStatus(call, failure))
}

function withStatus(call: PlannedCall, failure: CallFailure): Error {
  const { status, retryAfter } = failure
  const error = plainErrorOf(call, failure)
  if (status === undefined || !call.forwardStatuses.includes(status)) return error
  const headers = retryAfter === undefined ? {} : { headers: { 'retry-after': retryAfter } }
  return Object.assign(new UpstreamStatusError(error.message), { statusCode: status, ...headers })
}

function plainErrorOf({ name, upstream }: PlannedCall, { reason, message, cause }: CallFailure): Error {
  return errorFor(reason, `The call "${name}" to ${upstream.name} ${message}`, cause)
}

function unchanged(body: unknown): string {
  return body as string
}
