// Methods that upstreams may be called by.

export const METHODS = ['GET', 'HEAD', 'POST', 'PUT', 'PATCH', 'DELETE'] as const

export type Method = (typeof METHODS)[number]

/** Methods that may be sent twice (RFC 9110, 9.2.2). */
const IDEMPOTENT: readonly Method[] = ['GET', 'HEAD', 'PUT', 'DELETE']

export function isIdempotent(method: Method): boolean {
  return IDEMPOTENT.includes(method)
}
