// Reports ended calls to the log and the observers.

import type { TRPCError } from '@trpc/server'
import { ObserverFaults } from 'checked-options'
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
  readonly #faults: ObserverFaults

  constructor({ observers, callLogLevel }: ReportOptions, log: FastifyBaseLogger) {
    this.#observers = observers
    this.#logLevel = callLogLevel
    this.#faults = new ObserverFaults(log)
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
        this.#faults.watch(index, 'callEnded', observer.callEnded?.(record))
      } catch (err) {
        this.#faults.report(index, 'callEnded', err)
      }
    }
  }
}
