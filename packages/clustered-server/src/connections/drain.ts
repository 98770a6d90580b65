import type { Http2Session } from 'node:http2'
import type { Server } from 'node:net'
import { idleSockets, isEventStream, isHttp1, responseOf } from '../platform/node-internals.ts'
import type { ConnectionTracker } from './connection-tracker.ts'
import type { Handover } from './handover.ts'

/** Milliseconds between two polls of all connections of a draining server. */
const POLL_MS = 200
/** Milliseconds in which busy connections get a response with `connection: close` before idle ones are closed. */
const NOTICE_MS = 100
/** Milliseconds for HTTP/2 clients to process GOAWAY; most close the connection themselves. */
const SESSION_NOTICE_MS = 1000
/** Maximum milliseconds for TLS handshakes to finish. */
const HANDSHAKE_TIMEOUT = 5000
/** Milliseconds for event streams to end properly after the timeout. */
const EVENT_STREAM_MS = 200
/** Maximum stream id of HTTP/2. */
const MAX_STREAM_ID = 2 ** 31 - 1

interface DrainOptions {
  /** Hand idle connections over instead of closing them. */
  readonly handOver: boolean
  /** Maximum time in milliseconds. */
  readonly timeout: number
}

/** Resolves when no connection with requests is left, or after the timeout. Then closes the others. */
export async function drain(
  server: Server,
  tracker: ConnectionTracker,
  handover: Handover | undefined,
  { handOver, timeout }: DrainOptions,
): Promise<void> {
  let waitsForHandshakes = true
  const isEmpty = (): boolean => {
    if (tracker.sessions.size + (handover?.leaving ?? 0) > 0) return false
    if (waitsForHandshakes && tracker.handshakes > 0) return false
    // Upgraded connections are left to the app.
    return ![...tracker.open].some((socket) => isHttp1(socket))
  }
  const { promise, resolve } = Promise.withResolvers<void>()
  tracker.onChange = () => {
    if (isEmpty()) resolve()
  }
  const closeIdle = (): void => {
    for (const socket of idleSockets(server, tracker.open)) socket.destroy()
  }
  const timers = [
    setTimeout(() => !handOver && closeIdle(), NOTICE_MS),
    setTimeout(() => {
      endEventStreams(tracker)
      timers.push(setTimeout(resolve, EVENT_STREAM_MS))
    }, timeout),
    setTimeout(() => {
      waitsForHandshakes = false
      tracker.onChange()
    }, HANDSHAKE_TIMEOUT),
    // Not everything that makes a connection idle emits an event, such as the late end of a request body.
    setInterval(() => (handOver ? handover?.handOverIdle(tracker.open) : closeIdle()), POLL_MS),
  ]
  tracker.onChange()
  await promise
  for (const timer of timers) clearTimeout(timer)
  for (const session of tracker.sessions) session.destroy()
  for (const socket of tracker.open) if (isHttp1(socket)) socket.destroy()
}

/** Announces the end of an HTTP/2 session before it closes: an immediate close would reject streams on their way. */
export function endSession(session: Http2Session): void {
  session.goaway(0, MAX_STREAM_ID)
  setTimeout(() => session.close(), SESSION_NOTICE_MS).unref()
}

/** Event streams have no end of their own. Clients reconnect when one ends properly. */
function endEventStreams(tracker: ConnectionTracker): void {
  for (const socket of tracker.open) {
    const response = responseOf(socket)
    if (!response || !isEventStream(response)) continue
    // Later writes of the app fail.
    response.on('error', () => {})
    response.end()
  }
}
