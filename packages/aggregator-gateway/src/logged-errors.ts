// Errors of requests whose failed call is in the log already, once in a while and with its origin. Fastify's error handler
// would log each of them again.

import type { FastifyBaseLogger, FastifyReply } from 'fastify'

const IS_LOGGED = Symbol('isLogged')

/** Marks an error whose cause the gateway has logged. */
export function markLogged<T extends Error>(error: T): T {
  return Object.assign(error, { [IS_LOGGED]: true })
}

export function isLogged(error: unknown): boolean {
  return error instanceof Error && IS_LOGGED in error
}

/** Takes the line of Fastify's error handler from the log of a reply, if the gateway has logged the error. */
export function logOnce(reply: FastifyReply, error: unknown): void {
  if (isLogged(error)) reply.log = withoutErrorOf(reply, error)
}

/** A logger without the lines `{ res: reply, err: error }`, which an error handler of the app writes by `request.log`. */
function withoutErrorOf(reply: FastifyReply, error: unknown): FastifyBaseLogger {
  return new Proxy(reply.log, {
    get(log, name) {
      const value: unknown = Reflect.get(log, name)
      if (typeof value !== 'function') return value
      const write = value as (...line: unknown[]) => unknown
      if (name !== 'error' && name !== 'info') return write.bind(log)
      return (...line: unknown[]) => {
        const { res, err } = (line[0] ?? {}) as { readonly res?: unknown; readonly err?: unknown }
        return res === reply && err === error ? undefined : write.apply(log, line)
      }
    },
  })
}
