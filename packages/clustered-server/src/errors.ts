import { isAbsolute } from 'node:path'

/** Error codes of this package. They are API: a code is never reused and never renamed. */
export type ClusteredServerErrorCode =
  | 'CLUSTERED_SERVER_INVALID_OPTION'
  | 'CLUSTERED_SERVER_INVALID_APP'
  | 'CLUSTERED_SERVER_INSIDE_WORKER'
  | 'CLUSTERED_SERVER_CANNOT_LISTEN'
  | 'CLUSTERED_SERVER_PID_FILE'
  | 'CLUSTERED_SERVER_START_FAILED'
  | 'CLUSTERED_SERVER_RELOAD_FAILED'
  | 'CLUSTERED_SERVER_SINGLE_PROCESS'
  | 'CLUSTERED_SERVER_CLOSED'

/** Error of this package, identified by its `code`. */
export class ClusteredServerError extends Error {
  override readonly name = 'ClusteredServerError'
  readonly code: ClusteredServerErrorCode

  constructor(code: ClusteredServerErrorCode, message: string, options?: ErrorOptions) {
    super(message, options)
    this.code = code
  }
}

/** Class of the errors with one code. */
export type ClusteredServerErrorClass = new (message: string, options?: ErrorOptions) => ClusteredServerError

/**
 * Error classes by code.
 *
 * @example
 * try {
 *   await server.reload()
 * } catch (error) {
 *   if (error instanceof errorCodes.CLUSTERED_SERVER_RELOAD_FAILED) alert(error.message)
 * }
 */
export const errorCodes: Readonly<Record<ClusteredServerErrorCode, ClusteredServerErrorClass>> = {
  CLUSTERED_SERVER_INVALID_OPTION: classOf('CLUSTERED_SERVER_INVALID_OPTION'),
  CLUSTERED_SERVER_INVALID_APP: classOf('CLUSTERED_SERVER_INVALID_APP'),
  CLUSTERED_SERVER_INSIDE_WORKER: classOf('CLUSTERED_SERVER_INSIDE_WORKER'),
  CLUSTERED_SERVER_CANNOT_LISTEN: classOf('CLUSTERED_SERVER_CANNOT_LISTEN'),
  CLUSTERED_SERVER_PID_FILE: classOf('CLUSTERED_SERVER_PID_FILE'),
  CLUSTERED_SERVER_START_FAILED: classOf('CLUSTERED_SERVER_START_FAILED'),
  CLUSTERED_SERVER_RELOAD_FAILED: classOf('CLUSTERED_SERVER_RELOAD_FAILED'),
  CLUSTERED_SERVER_SINGLE_PROCESS: classOf('CLUSTERED_SERVER_SINGLE_PROCESS'),
  CLUSTERED_SERVER_CLOSED: classOf('CLUSTERED_SERVER_CLOSED'),
}

/** Creates the error for an address that cannot be listened on. */
export function cannotListen(host: string | undefined, port: number | string, cause: unknown): ClusteredServerError {
  const isPath = typeof port === 'string' && isAbsolute(port)
  const where = isPath ? port : `${host ?? 'any address'}, port ${port}`
  const text = `Cannot listen on ${where}: ${(cause as Error).message}`
  return new errorCodes.CLUSTERED_SERVER_CANNOT_LISTEN(text, { cause })
}

function classOf(code: ClusteredServerErrorCode): ClusteredServerErrorClass {
  return class extends ClusteredServerError {
    constructor(message: string, options?: ErrorOptions) {
      super(code, message, options)
    }
  }
}
