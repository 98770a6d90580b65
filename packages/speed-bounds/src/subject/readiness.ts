import { existsSync } from 'node:fs'
import { errorCodes, SpeedBoundsError } from '../errors.ts'
import type { Protocol } from '../options/load-types.ts'
import type { RunningSubject } from './running-subject.ts'
import { quoteStderr } from './quote-stderr.ts'
import { awaitResponse } from './send-request.ts'
import type { SupervisorChannel } from './supervisor-channel.ts'

/** Milliseconds between two attempts to reach a starting subject. */
const RETRY_DELAY = 15

/** Resolves at a response of the subject, or rejects. */
type IsReady = (origin: string, signal: AbortSignal) => Promise<unknown>

/** Limits of the wait for the first response. */
export interface ReadinessLimits {
  /** Milliseconds. */
  readonly startTimeout: number
  readonly signal: AbortSignal
  /** By default, it is HTTP/1.1. */
  readonly protocol?: Protocol
  /** A request in the protocol of the subject. */
  readonly isReady?: IsReady
}

const PROTOCOL_NAMES: Readonly<Record<Protocol, string>> = {
  http1: 'HTTP/1.1',
  http2: 'HTTP/2 without TLS',
  websocket: 'WebSocket',
}

/** Waits until a subject responds. */
export async function waitUntilReady(
  channel: SupervisorChannel,
  id: string,
  run: RunningSubject,
  { startTimeout: timeout, signal: aborted, protocol = 'http1', isReady = awaitResponse }: ReadinessLimits,
): Promise<void> {
  const deadline = performance.now() + timeout
  const lastError = await pollUntil(deadline, run, aborted, isReady)
  aborted.throwIfAborted()
  // If the subject is gone, the response came from another program on this port.
  if (run.died.aborted) throw startErrorOf(run)
  if (performance.now() < deadline) return
  const tail = channel.next(id, 'tail')
  channel.send({ type: 'tail', id })
  const { stderr } = await tail
  const { subject, origin } = run
  throw new errorCodes.SPEED_BOUNDS_SUBJECT_NOT_READY(
    `${subject.name} (${subject.label}) did not respond at ${origin} within ${timeout} ms (last error: ${lastError.replace(/\.$/, '')}). A subject must listen on HOST and PORT from its environment, and speak ${PROTOCOL_NAMES[protocol]}.${quoteStderr(stderr)}`,
  )
}

/** Sends requests until one gets a response. Returns the message of the last error. */
async function pollUntil(
  deadline: number,
  run: RunningSubject,
  aborted: AbortSignal,
  isReady: IsReady,
): Promise<string> {
  let lastError = ''
  while (!run.died.aborted && !aborted.aborted && performance.now() < deadline) {
    const left = Math.max(1, Math.ceil(deadline - performance.now()))
    try {
      const signal = AbortSignal.any([run.died, aborted, AbortSignal.timeout(left)])
      await isReady(run.origin, signal)
      break
    } catch (error) {
      lastError = (error as Error).message
      await new Promise((resolve) => setTimeout(resolve, RETRY_DELAY))
    }
  }
  return lastError
}

/** The error of a subject that ended before its first response. Its first line has all but the stderr. */
function startErrorOf({ subject, died, origin }: RunningSubject): Error {
  const reason = died.reason as Error
  if (reason instanceof SpeedBoundsError && reason.code !== 'SPEED_BOUNDS_SUBJECT_DIED') return reason
  const [ended, ...stderr] = reason.message.split('\n')
  const because = (text: string): string => [`${ended} ${text}`, ...stderr].join('\n')
  // Not checked before the start: Node finds server.js by the name server.
  if (subject.file !== undefined && !existsSync(subject.file)) {
    return new errorCodes.SPEED_BOUNDS_SUBJECT_NOT_STARTED(`${ended} There is no file ${subject.file}.`)
  }
  if (/EADDRINUSE|address already in use/i.test(reason.message)) {
    return new errorCodes.SPEED_BOUNDS_PORT_TAKEN(
      because(
        `Its port was in use, and PORT=${new URL(origin).port} was free: a subject must listen on HOST and PORT from its environment.`,
      ),
    )
  }
  return new errorCodes.SPEED_BOUNDS_SUBJECT_NOT_STARTED(because(`It never responded at ${origin}.`))
}
