// Reports the start and the end of calls to the log and the observers.

import type { TRPCError } from '@trpc/server'
import { ObserverFaults } from 'checked-options'
import type { FastifyBaseLogger, FastifyInstance, FastifyRequest, LogLevel } from 'fastify'
import type { ObservedCall, TrpcObserver } from '../../options/types.ts'
import type { CallScope, InterceptedCall } from './call-scope.ts'

export interface ReportOptions {
  readonly observers: readonly TrpcObserver[]
  readonly callLogLevel: LogLevel
}

/** Servers whose log is off. Both plugins of an app may have the option. */
const warned = new WeakSet<object>()

type ObserverFunction = keyof TrpcObserver

/** A call that has started. */
export interface ReportedCall {
  /** Runs code of the call in the contexts of the observers. */
  readonly run: <T>(code: () => T) => T
  readonly ended: (error?: TRPCError) => void
}

export class CallReporter {
  readonly #observers: readonly TrpcObserver[]
  readonly #logLevel: LogLevel
  readonly #log: FastifyBaseLogger
  readonly #faults: ObserverFaults

  constructor({ observers, callLogLevel }: ReportOptions, log: FastifyBaseLogger) {
    this.#observers = observers
    this.#logLevel = callLogLevel
    this.#log = log
    this.#faults = new ObserverFaults(log)
  }

  /** Tells the observers of each request to the routes of an app, before the hooks of rules. Warns if its log is off. */
  reportStarts(app: FastifyInstance): void {
    this.#warnOfSilentLog(app)
    if (!this.#observers.some((observer) => observer.requestStarted !== undefined)) return
    app.addHook('onRequest', (request, _reply, done) => {
      this.#requestStarted(request)
      done()
    })
  }

  #warnOfSilentLog({ log, server }: FastifyInstance): void {
    // The log of an app without a logger is replaced by warnings of the process.
    if (this.#logLevel === 'silent' || log === this.#log || warned.has(server)) return
    warned.add(server)
    this.#log.warn('callLogLevel logs nothing, because the log is off. Turn it on by Fastify({ logger: true }).')
  }

  #requestStarted(req: FastifyRequest): void {
    for (const [index, observer] of this.#observers.entries()) {
      this.#guard(index, 'requestStarted', () => observer.requestStarted?.(req))
    }
  }

  started({ req, isBatch, isWebSocket }: CallScope, { path, type, batchIndex }: InterceptedCall): ReportedCall {
    const call: ObservedCall = { path, type, batchIndex, isBatch, isWebSocket, req }
    const states = this.#observers.map((observer, index) =>
      this.#guard(index, 'callStarted', () => observer.callStarted?.(call)),
    )
    const startedAt = performance.now()
    return {
      run: <T>(code: () => T) => this.#run(0, states, code),
      ended: (error) => this.#ended(call, performance.now() - startedAt, error, states),
    }
  }

  /** Runs code inside the observers from an index on. An observer that throws leaves the code to run as it would. */
  #run<T>(from: number, states: readonly unknown[], code: () => T): T {
    const index = this.#observers.findIndex((observer, at) => at >= from && observer.runCall !== undefined)
    if (index === -1) return code()
    let outcome: { value: T } | { cause: unknown } | undefined
    this.#guard(index, 'runCall', () =>
      this.#observers[index]!.runCall!(states[index], () => {
        try {
          outcome ??= { value: this.#run(index + 1, states, code) }
        } catch (cause) {
          outcome = { cause }
        }
        return 'value' in outcome ? outcome.value : undefined
      }),
    )
    if (!outcome) return this.#run(index + 1, states, code)
    if ('cause' in outcome) throw outcome.cause
    return outcome.value
  }

  #ended(call: ObservedCall, duration: number, error: TRPCError | undefined, states: readonly unknown[]): void {
    const { path, type, batchIndex, req } = call
    if (this.#logLevel !== 'silent') {
      req.log[this.#logLevel]({ path, type, batchIndex, duration, outcome: error?.code ?? 'OK' }, 'tRPC call ended')
    }
    const record = { ...call, duration, error }
    for (const [index, observer] of this.#observers.entries()) {
      this.#guard(index, 'callEnded', () => observer.callEnded?.(record, states[index]))
    }
  }

  #guard<T>(index: number, name: ObserverFunction, call: () => T): T | undefined {
    try {
      const returned = call()
      if (name !== 'runCall') this.#faults.watch(index, name, returned)
      return returned
    } catch (err) {
      this.#faults.report(index, name, err)
      return undefined
    }
  }
}
