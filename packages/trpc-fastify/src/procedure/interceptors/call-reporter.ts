// Reports ended calls to the log and the observers.

import type { TRPCError } from '@trpc/server'
import type { FastifyBaseLogger, FastifyRequest, LogLevel } from 'fastify'
import type { CallRecord, TrpcObserver } from '../../options/types.ts'
import type { InterceptedCall } from './request-scope.ts'

export interface ReportOptions {
  readonly observers: readonly TrpcObserver[]
  readonly callLogLevel: LogLevel
}

export class CallReporter {
  readonly #observers: readonly TrpcObserver[]
  readonly #logLevel: LogLevel
  readonly #log: FastifyBaseLogger
  /** Observers that have thrown. Only the first error of each is logged, so that it cannot fill the log. */
  readonly #faulty = new Set<number>()

  constructor({ observers, callLogLevel }: ReportOptions, log: FastifyBaseLogger) {
    this.#observers = observers
    this.#logLevel = callLogLevel
    this.#log = log
  }

  ended(
    req: FastifyRequest,
    { path, type, batchIndex }: InterceptedCall,
    duration: number,
    error: TRPCError | undefined,
  ): void {
    if (this.#logLevel !== 'silent') {
      req.log[this.#logLevel]({ path, type, batchIndex, duration, outcome: error?.code ?? 'OK' }, 'tRPC call ended')
    }
    this.#notify({ path, type, batchIndex, duration, error, req })
  }

  #notify(record: CallRecord): void {
    for (const [index, observer] of this.#observers.entries()) {
      try {
        const returned: unknown = observer.callEnded?.(record)
        if (returned instanceof Promise) returned.catch((err: unknown) => this.#logFault(index, err))
      } catch (err) {
        this.#logFault(index, err)
      }
    }
  }

  #logFault(index: number, err: unknown): void {
    if (this.#faulty.has(index)) return
    this.#faulty.add(index)
    this.#log.error(
      { err, observer: `observers[${index}].callEnded` },
      'Observer threw. Its further errors are not logged',
    )
  }
}
