// Serves an endpoint: starts each call as soon as its inputs are ready, waits for all calls or the deadline, and
// composes the response. Coalesced requests share one aggregate.

import type { FastifyReply, FastifyRequest } from 'fastify'
import { Call, type CallOwner, type PlannedCall } from '../call/call.ts'
import type { Compose } from './compose.ts'
import { atEndOfTurn } from '../runtime/write-batching.ts'
import { BadParameterError, UpstreamStatusError } from '../errors.ts'
import { forwardedBody } from '../request/forwarded-body.ts'
import { CLIENT_LEFT, endOf, type GivenUp, NOT_NEEDED, type Observing, refusedEnd } from '../observability/observers.ts'
import { type CallFailure, type CallOutcome, errorFor, LATE, NOT_MADE } from '../call/outcome.ts'
import { MissingValueError, type Values } from '../request/placeholders.ts'
import { type RenderedCalls, renderCalls, renderPath } from './rendered-calls.ts'
import { WaitingClient } from '../runtime/pending-reply.ts'

/** An endpoint, ready to serve requests. */
export interface PlannedEndpoint {
  readonly calls: readonly PlannedCall[]
  readonly indexOf: ReadonlyMap<string, number>
  /** Deadline for the whole request, in ms. */
  readonly timeout: number
  readonly compose: Compose | undefined
  readonly composeValues: ((values: Record<string, unknown>, request: FastifyRequest) => unknown) | undefined
  readonly hasOptional: boolean
  /** All calls are optional, but at least one must succeed. */
  readonly needsAny: boolean
  /** Required calls that start immediately: one per upstream, with their number. */
  readonly needs: readonly { readonly call: PlannedCall; readonly calls: number }[]
  /** Adds a `server-timing` header with the duration of each call. */
  readonly hasServerTiming: boolean
  /** Observers of its calls. */
  readonly observing: Observing | undefined
}

const JSON_CONTENT = 'application/json; charset=utf-8'

/** A request in progress. */
export class Aggregate implements CallOwner, Values {
  readonly #endpoint: PlannedEndpoint
  readonly #request: FastifyRequest
  /** Clients that wait for the response. */
  readonly #clients: WaitingClient[] = []
  /** Paths and headers of its calls, once they are known. */
  #rendered: RenderedCalls | undefined
  /** The first client, for which the calls are made. */
  #first: WaitingClient | undefined
  readonly #active: (Call | undefined)[]
  readonly #outcomes: CallOutcome[]
  readonly #waiting: number[] | undefined
  readonly #ended: (() => void) | undefined
  readonly #startedAt = performance.now()
  readonly #durations: (number | undefined)[] | undefined
  /** Values that observers returned when the calls started. */
  readonly #observed: (readonly unknown[] | undefined)[] | undefined
  /**
   * One timer for the deadline and for all times that calls wait for, set to the earliest. It rarely fires. Two timers
   * for each of five calls cost 3 % more CPU. See docs/measurements.md#one-timer
   */
  #timer: NodeJS.Timeout | undefined
  #firesAt = Number.POSITIVE_INFINITY
  #left: number
  #isOver = false

  /** `rendered` is given if the coalescing key was made of it. `ended` is called when no client can join any more. */
  constructor(endpoint: PlannedEndpoint, request: FastifyRequest, rendered?: RenderedCalls, ended?: () => void) {
    const { calls, hasServerTiming, observing } = endpoint
    this.#endpoint = endpoint
    this.#request = request
    this.#rendered = rendered
    this.#ended = ended
    // `Array.from({ length })` takes 0.5 µs. See docs/measurements.md#calls-per-tick
    this.#active = calls.map(nothing)
    this.#outcomes = calls.map(nothing)
    this.#left = calls.length
    this.#waiting = calls.some(({ waitsFor }) => waitsFor > 0) ? calls.map(({ waitsFor }) => waitsFor) : undefined
    if (hasServerTiming) this.#durations = calls.map(nothing)
    if (observing) this.#observed = calls.map(nothing)
  }

  get request(): FastifyRequest {
    return this.#request
  }
  callValue(name: string): unknown {
    const outcome = this.#outcomes[this.#endpoint.indexOf.get(name)!]!
    return 'body' in outcome ? outcome.body.value : undefined
  }
  timeLeft(): number {
    return this.#expiresAt - performance.now()
  }
  get #expiresAt(): number {
    return this.#startedAt + this.#endpoint.timeout
  }

  /** Adds a client. When all clients have left, the calls are aborted. */
  join(reply: FastifyReply): void {
    const client = new WaitingClient(reply)
    this.#first ??= client
    this.#clients.push(client)
    reply.raw.once('close', leaveOf(this, client))
  }

  leave(client: WaitingClient): void {
    if (this.#isOver) return
    this.#clients.splice(this.#clients.indexOf(client), 1)
    if (this.#clients.length === 0) this.#first!.runInAsyncScope(() => this.#end(CLIENT_LEFT))
  }

  /**
   * Starts the calls of all requests of an event-loop tick together, once all are read: 3 % less CPU with 50
   * connections. See docs/measurements.md#calls-per-tick
   */
  start(): void {
    atEndOfTurn(this)
  }

  due(): void {
    if (this.#isOver) return
    this.#first!.runInAsyncScope(() => {
      try {
        this.#startCalls()
      } catch (cause) {
        this.#refuse(cause as Error)
      }
    })
  }

  #startCalls(): void {
    const { calls } = this.#endpoint
    // Before the first call, so that a bad request makes no calls.
    this.#rendered ??= renderCalls(this.#endpoint, this)
    if (this.#isRefused()) return
    const { paths } = this.#rendered
    for (let index = 0; index < calls.length && !this.#isOver; index++) {
      const path = paths[index]
      if (path !== undefined) this.#call(index, path)
    }
    this.#setTimer()
  }

  wakeAt(time: number): void {
    if (time < this.#firesAt) this.#setTimer()
  }

  #setTimer(): void {
    clearTimeout(this.#timer)
    if (this.#isOver) return
    this.#firesAt = this.#active.reduce((first, call) => Math.min(first, call?.wakesAt ?? first), this.#expiresAt)
    // Overdue work is not delayed. Node warns about a negative delay.
    this.#timer = setTimeout(wake, Math.max(0, Math.ceil(this.#firesAt - performance.now())), this)
  }

  /** Runs all work that is due. */
  wake(): void {
    const now = performance.now()
    if (now >= this.#expiresAt) return this.expire()
    for (const call of this.#active) call?.wake(now)
    this.#setTimer()
  }

  /**
   * Whether a required call cannot be made. Then no call is made: a gateway at twice its capacity that made some and
   * aborted them served a third of it. See docs/measurements.md#rejections
   */
  #isRefused(): boolean {
    for (const { call, calls } of this.#endpoint.needs) {
      const refusal = call.upstream.refusal(calls)
      if (!refusal) continue
      if (this.#observed) this.#tellRefusal(call, NOT_MADE[refusal])
      this.#warn(call, NOT_MADE[refusal], undefined)
      this.#refuse(errorOf(call, NOT_MADE[refusal]))
      return true
    }
    return false
  }

  /** Makes a call whose dependencies are ready. */
  #make(index: number): void {
    let path: string
    try {
      path = renderPath(this.#endpoint.calls[index]!, this)
    } catch (cause) {
      if (cause instanceof BadParameterError) return this.#refuse(cause)
      if (!(cause instanceof MissingValueError)) throw cause
      const failure = { reason: 'dependency', message: `was not called: ${cause.message}`, cause } as const
      return this.callEnded(index, { failure })
    }
    this.#call(index, path)
    this.wakeAt(this.#active[index]?.wakesAt ?? this.#firesAt)
  }

  #call(index: number, path: string): void {
    const plan = this.#endpoint.calls[index]!
    const { method, shadow } = plan
    const own = this.#observed ? this.#observedHeaders(index) : this.#rendered!.headers[index]!
    const body = plan.forwardsBody ? forwardedBody(this.#request) : undefined
    const headers = body?.type === undefined ? own : { 'content-type': body.type, ...own }
    const call = new Call(this, index, plan, { path, method, headers, body: body?.content ?? null })
    shadow?.copy({ path, method, headers })
    this.#active[index] = call
    call.start()
  }

  /** Tells observers that a call starts, and returns its headers with theirs. */
  #observedHeaders(index: number): Readonly<Record<string, string>> {
    const { observers, calls } = this.#endpoint.observing!
    const headers = { ...this.#rendered!.headers[index]! }
    this.#observed![index] = observers.started(calls[index]!, this.#request, headers)
    return headers
  }

  /** Reports a rejected call to observers, which would not see it otherwise. */
  #tellRefusal(plan: PlannedCall, failure: CallFailure): void {
    const index = this.#endpoint.indexOf.get(plan.name)!
    const { observers, calls } = this.#endpoint.observing!
    const state = observers.started(calls[index]!, this.#request, {})
    observers.ended(calls[index]!, refusedEnd(failure), state)
  }

  callEnded(index: number, outcome: CallOutcome): void {
    this.#first!.runInAsyncScope(() => this.#callEnded(index, outcome))
  }

  #callEnded(index: number, outcome: CallOutcome): void {
    const origin = 'failure' in outcome ? this.#active[index]?.latest?.origin?.url : undefined
    this.#over(index, 'failure' in outcome ? outcome.failure : undefined)
    if (this.#isOver) return
    const call = this.#endpoint.calls[index]!
    if ('failure' in outcome) {
      this.#warn(call, outcome.failure, origin)
      if (!call.isOptional) return this.#refuse(errorOf(call, outcome.failure))
    }
    this.#outcomes[index] = outcome
    if (--this.#left === 0) return this.#answer()
    for (const dependent of call.dependents) {
      if (--this.#waiting![dependent]! === 0 && !this.#isOver) this.#make(dependent)
    }
  }

  /** Records the duration of a call that ended, and tells observers. */
  #over(index: number, failure: CallFailure | GivenUp | undefined): void {
    const call = this.#active[index]
    if (!call) return
    this.#active[index] = undefined
    if (this.#durations) this.#durations[index] = call.elapsed()
    const { observing } = this.#endpoint
    if (observing) observing.observers.ended(observing.calls[index]!, endOf(call, failure), this.#observed![index]!)
  }

  /** Aborts all running calls. */
  #giveUp(why: CallFailure | GivenUp): void {
    for (let index = 0; index < this.#active.length; index++) {
      this.#active[index]?.giveUp(why === LATE)
      this.#over(index, why)
    }
  }

  /** At the deadline, calls without a response have failed. */
  expire(): void {
    const origins = this.#active.map((call) => call?.latest?.origin?.url)
    // Aborts all calls as late, also those behind a required one: each has had its time.
    this.#giveUp(LATE)
    for (const [index, call] of this.#endpoint.calls.entries()) {
      if (this.#outcomes[index]) continue
      this.#warn(call, LATE, origins[index])
      if (!call.isOptional) return this.#refuse(errorOf(call, LATE))
      this.#outcomes[index] = { failure: LATE }
    }
    this.#answer()
  }

  #warn({ name, upstream, isOptional }: PlannedCall, failure: CallFailure, origin: string | undefined): void {
    const what = `${isOptional ? 'optional call' : 'call'} "${name}"`
    upstream.failures.warn(this.#request.log, { what, call: name, upstream: upstream.name, origin }, failure)
  }

  #answer(): void {
    const { calls, compose, composeValues } = this.#endpoint
    const failure = this.#failureOfAll()
    const clients = this.#end()
    if (failure) {
      for (const client of clients) {
        this.#head(client.reply)
        client.sendAtEndOfTurn(failure)
      }
      return
    }
    try {
      if (compose) {
        const text = compose(this.#outcomes)
        for (const client of clients) {
          this.#head(client.reply).type(JSON_CONTENT).serializer(asItIs)
          client.sendAtEndOfTurn(text)
        }
        return
      }
      // Parsed for each request: changes by the user's function must not reach other responses.
      const values = calls.map(({ name }, index) => {
        const outcome = this.#outcomes[index]!
        return [name, 'body' in outcome ? outcome.body.freshValue() : null]
      })
      const send = (answer: unknown): void => {
        for (const client of clients) {
          this.#head(client.reply)
          client.send(answer)
        }
      }
      Promise.resolve(composeValues!(Object.fromEntries(values) as Record<string, unknown>, this.#request)).then(
        send,
        send,
      )
    } catch (cause) {
      for (const client of clients) client.send(cause)
    }
  }

  /** The error of a request whose calls were all optional and have all failed. */
  #failureOfAll(): Error | undefined {
    const { calls, needsAny } = this.#endpoint
    if (!needsAny) return undefined
    const failures = this.#outcomes.map((outcome) => ('failure' in outcome ? outcome.failure : undefined))
    if (failures.includes(undefined)) return undefined
    // A timeout is reported only without other failures, a failed dependency never.
    const rank = ({ reason }: CallFailure): number => (reason === 'dependency' ? 2 : reason === 'timeout' ? 1 : 0)
    const [index, failure] = [...(failures as CallFailure[]).entries()].reduce((first, other) =>
      rank(other[1]) < rank(first[1]) ? other : first,
    )
    return plainErrorOf(calls[index]!, failure)
  }

  /** Adds headers for missing calls and for durations. */
  #head(reply: FastifyReply): FastifyReply {
    const { calls, hasOptional } = this.#endpoint
    if (hasOptional) {
      const missing = calls.flatMap(({ name }, index) => {
        const outcome = this.#outcomes[index]!
        return 'failure' in outcome ? `${name};reason=${outcome.failure.reason}` : []
      })
      reply.header('x-gateway-complete', missing.length === 0 ? 'true' : 'false')
      if (missing.length > 0) reply.header('x-gateway-missing', missing.join(', '))
    }
    const durations = this.#durations
    if (durations) {
      const entries = calls.flatMap(({ name }, index) =>
        durations[index] === undefined ? [] : `${name};dur=${durations[index].toFixed(1)}`,
      )
      if (entries.length > 0) reply.header('server-timing', entries.join(', '))
    }
    return reply
  }

  #refuse(error: Error): void {
    for (const client of this.#end()) client.sendAtEndOfTurn(error)
  }

  /** Aborts all running calls, and returns the waiting clients. */
  #end(why: GivenUp = NOT_NEEDED): readonly WaitingClient[] {
    this.#isOver = true
    clearTimeout(this.#timer)
    this.#giveUp(why)
    this.#ended?.()
    return this.#clients
  }
}

// Functions of their own: closures that a constructor keeps hold past requests in memory for longer. See
// docs/measurements.md#kept-closures
function leaveOf(aggregate: Aggregate, client: WaitingClient): () => void {
  return () => aggregate.leave(client)
}

/** Placeholder until a call has a result. */
function nothing(): never {
  return undefined as never
}

function wake(aggregate: Aggregate): void {
  aggregate.wake()
}

function asItIs(body: unknown): string {
  return body as string
}

function errorOf(call: PlannedCall, failure: CallFailure): Error {
  const { status, retryAfter } = failure
  const error = plainErrorOf(call, failure)
  if (status === undefined || !call.propagated.includes(status)) return error
  const headers = retryAfter === undefined ? {} : { headers: { 'retry-after': retryAfter } }
  return Object.assign(new UpstreamStatusError(error.message), { statusCode: status, ...headers })
}

function plainErrorOf({ name, upstream }: PlannedCall, { reason, message, cause }: CallFailure): Error {
  return errorFor(reason, `The call "${name}" to ${upstream.name} ${message}`, cause)
}
