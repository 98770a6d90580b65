import { TRPCError } from '@trpc/server'
import type { CallScope } from './call-scope.ts'

/** Adds the size of a result to that of its batch. Throws if the batch gets too large. */
export function addToBatch(scope: CallScope, data: unknown, maxBytes: number): void {
  const size = bytesOf(data)
  if (scope.size + size > maxBytes) {
    throw new TRPCError({
      code: 'PAYLOAD_TOO_LARGE',
      message: `The results of the batch have more than ${maxBytes} bytes`,
    })
  }
  scope.size += size
}

/** Bytes of a result as JSON. A result that cannot be serialized fails later, with its response. */
function bytesOf(data: unknown): number {
  try {
    return Buffer.byteLength(JSON.stringify(data) ?? '')
  } catch {
    return 0
  }
}
