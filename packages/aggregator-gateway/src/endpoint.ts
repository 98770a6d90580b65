// Answers one request: makes the calls as soon as what they need is there, waits for all or for the deadline, and
// puts the answer together.

import type { FastifyReply, FastifyRequest } from 'fastify'
import { type CallFailure, type CallOutcome, UpstreamCall } from './call.ts'
import type { Compose } from './compose.ts'
import { BadParameterError, OverloadedError, UpstreamFailedError, UpstreamTimeoutError } from './errors.ts'
import type { JsonBodyReader } from './json-body.ts'
import { MissingValueError, type Template, type Values } from './template.ts'
import type { Upstream } from './upstream.ts'

/** A call of an endpoint, ready to be made. */
export interface PlannedCall {
  readonly name: string
  readonly upstream: Upstream
  readonly method: string
  readonly path: Template
  /** Headers that each of its requests has, and those of the client that it hands on. */
  readonly headers: Readonly<Record<string, string>>
  readonly forwardHeaders: readonly string[]
  /** The client's body goes along. */
  readonly forwardsBody: boolean
  readonly isOptional: boolean
  /** Milliseconds; nothing where the endpoint's deadline is enough. */
  readonly timeout: number | undefined
  /** Reads its answers. */
  readonly reader: JsonBodyReader
  /** Indices of the calls that wait for it, and how many it waits for. */
  readonly dependents: readonly number[]
  readonly waitsFor: number
}

/** An endpoint, ready to answer. */
export interface PlannedEndpoint {
  readonly calls: readonly PlannedCall[]
  readonly indexOf: ReadonlyMap<string, number>
  /** Milliseconds for the whole of it. */
  readonly timeout: number
  readonly compose: Compose | undefined
  readonly composeValues: ((values: Record<string, unknown>, request: FastifyRequest) => unknown) | undefined
  readonly hasOptional: boolean
}

const LATE: CallFailure = { reason: 'timeout', message: 'did not answer in time' }
const JSON_CONTENT = 'application/json; charset=utf-8'

/** A request that is being answered. */
export class Aggregate implements Values {
  readonly #endpoint: PlannedEndpoint
  readonly #request: FastifyRequest
  readonly #reply: FastifyReply
  readonly #active: (UpstreamCall | undefined)[]
  readonly #outcomes: CallOutcome[]
  readonly #waiting: number[] | undefined
  readonly #settled: (outcome: CallOutcome, index: number) => void
  #timers: NodeJS.Timeout[] = []
  #left: number
  #isOver = false

  constructor(endpoint: PlannedEndpoint, request: FastifyRequest, reply: FastifyReply) {
    const { calls } = endpoint
    this.#endpoint = endpoint
    this.#request = request
    this.#reply = reply
    this.#active = Array.from({ length: calls.length })
    this.#outcomes = Array.from({ length: calls.length })
    this.#left = calls.length
    this.#waiting = calls.some(({ waitsFor }) => waitsFor > 0) ? calls.map(({ waitsFor }) => waitsFor) : undefined
    this.#settled = settledOf(this)
  }

  get params(): unknown {
    return this.#request.params
  }
  get query(): unknown {
    return this.#request.query
  }
  get headers(): unknown {
    return this.#request.headers
  }
  get body(): unknown {
    return this.#request.body
  }
  callValue(name: string): unknown {
    const outcome = this.#outcomes[this.#endpoint.indexOf.get(name)!]!
    return 'body' in outcome ? outcome.body.value : undefined
  }

  start(): void {
    const { calls, timeout } = this.#endpoint
    // Before the first call: a bad request makes none.
    const paths = calls.map((call) => (call.waitsFor === 0 ? this.#pathOf(call) : undefined))
    if (this.#isOver) return
    this.#timers.push(setTimeout(expire, timeout, this))
    this.#reply.raw.once('close', closeOf(this))
    for (let index = 0; index < calls.length && !this.#isOver; index++) {
      const path = paths[index]
      if (path !== undefined) this.#call(index, path)
    }
  }

  /** The path that is filled in; nothing when the request was refused for it. */
  #pathOf({ path }: PlannedCall): string | undefined {
    try {
      return path.render(this)
    } catch (cause) {
      if (!(cause instanceof BadParameterError)) throw cause
      if (!this.#isOver) this.#refuse(cause)
      return undefined
    }
  }

  /** Makes a call whose dependencies are there. */
  #make(index: number): void {
    let path: string | undefined
    try {
      path = this.#pathOf(this.#endpoint.calls[index]!)
    } catch (cause) {
      if (!(cause instanceof MissingValueError)) throw cause
      return this.settle(
        { failure: { reason: 'dependency', message: `was not called: ${cause.message}`, cause } },
        index,
      )
    }
    if (path !== undefined) this.#call(index, path)
  }

  #call(index: number, path: string): void {
    const call = this.#endpoint.calls[index]!
    const made = new UpstreamCall(index, call.reader, this.#settled)
    this.#active[index] = made
    if (call.timeout !== undefined) this.#timers.push(setTimeout(expireCall, call.timeout, this, index))
    const options = { path, method: call.method, headers: this.#headersOf(call), body: this.#bodyOf(call) }
    made.dispatch(call.upstream, options)
  }

  #headersOf({ headers: fixed, forwardHeaders }: PlannedCall): Readonly<Record<string, string>> {
    if (forwardHeaders.length === 0) return fixed
    const headers = { ...fixed }
    // What `connection` names is about the client's connection too (RFC 9110, 7.6.1).
    const ofConnection = this.#request.headers.connection?.toLowerCase().split(/\s*,\s*/) ?? []
    for (const name of forwardHeaders) {
      const value = this.#request.headers[name]
      if (value !== undefined && !ofConnection.includes(name)) headers[name] = String(value)
    }
    return headers
  }

  #bodyOf({ forwardsBody }: PlannedCall): string | null {
    return forwardsBody ? JSON.stringify(this.#request.body ?? null) : null
  }

  settle(outcome: CallOutcome, index: number): void {
    this.#active[index] = undefined
    if (this.#isOver) return
    const { calls } = this.#endpoint
    const call = calls[index]!
    if ('failure' in outcome && !call.isOptional) return this.#refuse(errorOf(call, outcome.failure))
    if ('failure' in outcome) {
      const { reason, message } = outcome.failure
      this.#request.log.warn({ call: call.name, upstream: call.upstream.name, reason }, `optional call ${message}`)
    }
    this.#outcomes[index] = outcome
    if (--this.#left === 0) return this.#answer()
    for (const dependent of call.dependents) {
      if (--this.#waiting![dependent]! === 0 && !this.#isOver) this.#make(dependent)
    }
  }

  expire(index: number): void {
    const call = this.#active[index]
    if (!call) return
    call.abort()
    this.settle({ failure: LATE }, index)
  }

  /** The deadline: what is missing is missing. */
  expireAll(): void {
    for (const [index, call] of this.#endpoint.calls.entries()) {
      if (this.#isOver) return
      if (this.#outcomes[index]) continue
      this.#active[index]?.abort()
      if (call.isOptional) this.#outcomes[index] = { failure: LATE }
      else return this.#refuse(errorOf(call, LATE))
    }
    this.#answer()
  }

  /** Nobody waits for it any more. */
  abandon(): void {
    if (this.#isOver) return
    this.#end()
  }

  #answer(): void {
    this.#end()
    const { calls, compose, composeValues, hasOptional } = this.#endpoint
    const reply = this.#reply
    if (hasOptional) {
      const missing = calls.flatMap(({ name }, index) => {
        const outcome = this.#outcomes[index]!
        return 'failure' in outcome ? `${name};reason=${outcome.failure.reason}` : []
      })
      reply.header('x-gateway-complete', missing.length === 0 ? 'true' : 'false')
      if (missing.length > 0) reply.header('x-gateway-missing', missing.join(', '))
    }
    try {
      if (compose) {
        reply.type(JSON_CONTENT).serializer(asItIs)
        reply.send(compose(this.#outcomes))
        return
      }
      // Parsed for each request: what a user's function changes must not show in other answers.
      const values = calls.map(({ name }, index) => {
        const outcome = this.#outcomes[index]!
        return [name, 'body' in outcome ? (JSON.parse(outcome.body.text) as unknown) : null]
      })
      Promise.resolve(composeValues!(Object.fromEntries(values) as Record<string, unknown>, this.#request)).then(
        (value) => reply.send(value),
        (cause: unknown) => reply.send(cause),
      )
    } catch (cause) {
      reply.send(cause)
    }
  }

  #refuse(error: Error): void {
    this.#end()
    this.#reply.send(error)
  }

  #end(): void {
    this.#isOver = true
    for (const timer of this.#timers) clearTimeout(timer)
    for (const call of this.#active) call?.abort()
  }
}

// Functions of their own: closures that a constructor keeps would hold past requests in memory for longer.
function settledOf(aggregate: Aggregate): (outcome: CallOutcome, index: number) => void {
  return (outcome, index) => aggregate.settle(outcome, index)
}

function closeOf(aggregate: Aggregate): () => void {
  return () => aggregate.abandon()
}

function expire(aggregate: Aggregate): void {
  aggregate.expireAll()
}

function expireCall(aggregate: Aggregate, index: number): void {
  aggregate.expire(index)
}

function asItIs(body: unknown): string {
  return body as string
}

function errorOf({ name, upstream }: PlannedCall, { reason, message, cause }: CallFailure): Error {
  const text = `The call "${name}" to ${upstream.name} ${message}`
  const error =
    reason === 'timeout'
      ? new UpstreamTimeoutError(text)
      : reason === 'overloaded'
        ? new OverloadedError(text)
        : new UpstreamFailedError(text)
  return cause === undefined ? error : Object.assign(error, { cause })
}
