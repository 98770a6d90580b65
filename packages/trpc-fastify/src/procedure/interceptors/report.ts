// Reports ended calls to the log and to `onCallEnd`.

import type { TRPCError } from '@trpc/server'
import type { FastifyRequest, LogLevel } from 'fastify'
import type { EndedCall } from '../../options/types.ts'
import type { InterceptedCall } from './call-scope.ts'

export interface ReportOptions {
  readonly onCallEnd?: ((call: EndedCall) => void) | undefined
  readonly callLogLevel?: LogLevel | undefined
}

export function reportCall(
  { onCallEnd, callLogLevel }: ReportOptions,
  req: FastifyRequest,
  { path, type, batchIndex }: InterceptedCall,
  duration: number,
  error: TRPCError | undefined,
): void {
  if (callLogLevel && callLogLevel !== 'silent') {
    req.log[callLogLevel]({ path, type, batchIndex, duration, outcome: error?.code ?? 'OK' }, 'tRPC call ended')
  }
  try {
    onCallEnd?.({ path, type, batchIndex, duration, error, req })
  } catch (err) {
    req.log.error({ err, path }, '`onCallEnd` threw')
  }
}
