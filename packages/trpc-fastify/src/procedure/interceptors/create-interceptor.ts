// Runs around each call of a procedure: limits, timeout, size, log and metrics. It is the same on the fast path, in
// tRPC's own handler and on WebSockets.

import { getTRPCErrorFromUnknown } from '@trpc/server'
import pLimit from 'p-limit'
import type { ProcedureRule } from '../../options/types.ts'
import { isAsyncIterable } from '../../runtime/type-guards.ts'
import type { ProcedureRules } from '../rules.ts'
import type { Serializers } from '../serializer.ts'
import type { RouterConfig } from '../trpc-internals.ts'
import { addToBatch } from './batch-response-size.ts'
import type { CallReporter, ReportOptions } from './call-reporter.ts'
import type { CallScope, InterceptedCall, Invoke } from './call-scope.ts'
import { admit } from './rate-limit.ts'
import { callWithTimeout } from './timeout.ts'
import { watchStream } from './watch-stream.ts'

/** Options for the calls of all procedures. */
export interface InterceptorOptions extends ReportOptions {
  readonly batchConcurrency: number
  readonly maxBatchResponseSize: number
}

/** Calls a procedure within the limits and reports of options and rules. */
export type Interceptor = (scope: CallScope, call: InterceptedCall, invoke: Invoke) => Promise<unknown>

/** Whether options or rules ask for anything around calls. */
export function needsInterceptor(
  { batchConcurrency, maxBatchResponseSize, observers, callLogLevel }: InterceptorOptions,
  rules: ProcedureRules,
): boolean {
  const hasLimits = batchConcurrency !== Infinity || maxBatchResponseSize !== Infinity
  const hasReports = observers.length > 0 || callLogLevel !== 'silent'
  const ruled = ['rateLimit', 'timeout', 'serializer'] as const
  return hasLimits || hasReports || ruled.some((option) => rules.some(option))
}

export function createInterceptor(
  options: InterceptorOptions,
  rules: ProcedureRules,
  serializers: Serializers,
  { config, reporter }: { config: RouterConfig; reporter: CallReporter },
): Interceptor {
  const { batchConcurrency } = options
  const callByRules = rulesCaller(options, rules, serializers, config)
  return async (scope, call, invoke) => {
    if (batchConcurrency !== Infinity && scope.isBatch) scope.limit ??= pLimit(batchConcurrency)
    const reported = reporter.started(scope, call)
    const { ended } = reported
    try {
      const run = (): Promise<unknown> => reported.run(() => callByRules(scope, call, invoke))
      const data = await (scope.limit ? scope.limit(run) : run())
      if (call.type === 'subscription' || (scope.isStream && isAsyncIterable(data))) {
        return watchStream(data, call, scope, reported)
      }
      ended()
      return data
    } catch (cause) {
      ended(getTRPCErrorFromUnknown(cause))
      throw cause
    }
  }
}

/** Calls a procedure by its rules. */
function rulesCaller(
  { maxBatchResponseSize }: InterceptorOptions,
  rules: ProcedureRules,
  serializers: Serializers,
  { transformer }: RouterConfig,
): Interceptor {
  const ruleByPath = new Map<string, ProcedureRule>()
  const ruleOf = (path: string): ProcedureRule => {
    const rule = ruleByPath.get(path) ?? rules.of(path)
    ruleByPath.set(path, rule)
    return rule
  }
  return async (scope, call, invoke) => {
    const { rateLimit, timeout } = ruleOf(call.path)
    if (rateLimit) await admit(rateLimit, scope)
    if (call.type === 'subscription') return invoke()
    const data = await (timeout === undefined ? invoke() : callWithTimeout(timeout, call.signal, invoke))
    if (maxBatchResponseSize !== Infinity && scope.isBatch) {
      addToBatch(scope, transformer.output.serialize(data), maxBatchResponseSize)
    }
    const serialize = scope.hasSerializers ? undefined : serializers.at(call.path)
    return serialize && data !== undefined ? (JSON.parse(serialize(data)) as unknown) : data
  }
}
