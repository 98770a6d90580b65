// The one interface of connections, whatever their protocol.

import type { Protocol } from '../options/load-types.ts'

/** A request that is sent again and again, and where to. */
export interface RepeatedRequest {
  readonly protocol: Protocol
  readonly origin: string
  readonly method: string
  readonly path: string
  readonly headers: Readonly<Record<string, string>>
  /** With WebSocket, the message. */
  readonly body: string | undefined
  /** Whether a connection serves several requests. */
  readonly keepAlive: boolean
}

/** The end of a request: the status of its whole response, or why there is none. */
export type OnEnd = (outcome: number | Error) => void

/** Gives a request up. Its `OnEnd` is not called afterwards. */
export type Cancel = () => void

/** A connection. It is opened when it is made, and sends its first requests as soon as it is connected. */
export interface Connection {
  /** Requests that it can take now. 0 once it is closed, or about to close. */
  readonly free: number
  /** Sends the request. The end comes in a later tick of the event loop. */
  send(onEnd: OnEnd): Cancel
  /** Ends it. Pending requests end with an error. */
  close(): void
}

/** Opens a connection. */
export type Connect = () => Connection
