// Stops as `next start` does on a signal: requests, streams and `after()` end before the process does. close-with-grace
// was considered. It ends endless streams with exit code 1, and cannot leave a signal to a listener of the app.

import { subscribe, unsubscribe } from 'node:diagnostics_channel'
import type { Socket } from 'node:net'
import { constants } from 'node:os'
import { audibleLog } from 'checked-options'
import type { FastifyBaseLogger } from 'fastify'
import type { GracefulStopOptions } from '../options/types.ts'

/** The used parts of an app with any kind of server. */
export interface StoppableApp {
  readonly log: FastifyBaseLogger
  addHook(name: 'onClose' | 'onListen', hook: () => Promise<void>): unknown
  close(): Promise<unknown>
}

const SIGNALS = ['SIGINT', 'SIGTERM'] as const

/** Default timeout, in ms. Docker kills a process 10 s after the signal. */
const TIMEOUT = 8000
/** Time for hooks to end after connections were closed, in ms. */
const HOOKS_TIMEOUT = 1000

/** Listening apps of this process, each with its timeout. */
const listening = new Map<StoppableApp, number>()
/** Connections of all servers. Fastify has one server per address of `localhost`. */
const sockets = new Set<Socket>()
let isStopping = false

/** Closes a listening app on a stop signal, and ends the process with exit code 0. */
export function stopGracefully(app: StoppableApp, { timeout = TIMEOUT }: GracefulStopOptions): void {
  app.addHook('onListen', async () => {
    if (listening.size === 0) listen()
    listening.set(app, timeout)
  })
  app.addHook('onClose', async () => {
    // While the process stops, a second signal must still end it.
    if (listening.delete(app) && listening.size === 0 && !isStopping) leave()
  })
}

function listen(): void {
  subscribe('net.server.socket', onSocket)
  for (const signal of SIGNALS) process.prependListener(signal, onSignal)
}

function leave(): void {
  unsubscribe('net.server.socket', onSocket)
  for (const signal of SIGNALS) process.removeListener(signal, onSignal)
}

function onSocket(message: unknown): void {
  const { socket } = message as { readonly socket: Socket }
  sockets.add(socket)
  socket.once('close', () => sockets.delete(socket))
}

function onSignal(signal: NodeJS.Signals): void {
  if (isStopping) process.exit(128 + constants.signals[signal])
  const apps = [...listening.keys()]
  const log = logOf(apps)
  if (process.listenerCount(signal) > 1) {
    log.info({ signal }, 'stop signal: left to another listener of this process')
    return
  }
  isStopping = true
  const timeout = Math.max(...listening.values())
  log.info({ signal, timeout }, 'stop signal: closing')
  setTimeout(() => {
    log.warn({ connections: sockets.size }, 'stop timeout: closing connections')
    for (const socket of sockets) socket.destroy()
  }, timeout)
  setTimeout(() => {
    log.error('stop timeout: the app has not closed')
    endWithError()
  }, timeout + HOOKS_TIMEOUT)
  void end(apps)
}

async function end(apps: readonly StoppableApp[]): Promise<void> {
  const closed = await Promise.allSettled(apps.map((app) => app.close()))
  const failed = closed.find((result) => result.status === 'rejected')
  if (!failed) process.exit(0)
  logOf(apps).error({ err: failed.reason as unknown }, 'stop signal: closing failed')
  endWithError()
}

function logOf(apps: readonly StoppableApp[]): FastifyBaseLogger {
  return audibleLog(apps[0]!.log, 'NextOnFastifyWarning')
}

/** Ends the process with exit code 1, once Node has printed warnings. */
function endWithError(): void {
  setImmediate(() => process.exit(1))
}
