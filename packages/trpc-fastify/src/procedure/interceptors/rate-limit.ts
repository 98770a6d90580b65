import { TRPCError } from '@trpc/server'
import type { ProcedureRule } from '../../options/types.ts'
import type { CallScope } from './call-scope.ts'

/** Throws if the limiter of a rule rejects the call. Calls of one request are checked one after the other. */
export async function admit(rateLimit: NonNullable<ProcedureRule['rateLimit']>, scope: CallScope): Promise<void> {
  const { req, reply } = scope
  const checked = scope.admission.then(() => rateLimit(req))
  // oxlint-disable-next-line no-empty-function -- this call gets the error below
  scope.admission = checked.catch(() => {})
  const { isAllowed, isExceeded, isBanned, ttlInSeconds } = await checked
  if (isAllowed || !isExceeded) return
  if (reply && ttlInSeconds !== undefined && !reply.raw.headersSent) reply.header('retry-after', ttlInSeconds)
  throw isBanned
    ? new TRPCError({ code: 'FORBIDDEN', message: 'Banned for calling too often' })
    : new TRPCError({ code: 'TOO_MANY_REQUESTS', message: `Rate limit exceeded, retry in ${ttlInSeconds} seconds` })
}
