// What `next start` does on a stop signal: requests, streams and `after()` end before the process does.
//
// close-with-grace was considered. It ends streams that have no end with exit code 1, and cannot leave a signal to a listener
// that the app has added itself.

import { subscribe, unsubscribe } from 'node:diagnostics_channel'
import type { Socket } from 'node:net'
import { constants } from 'node:os'
import type { FastifyBaseLogger } from 'fastify'

/** Options of a graceful stop. */
export interface GracefulStopOptions {
  /** Milliseconds after a stop signal until connections that are still open are closed. @default 8000 */
  timeout?: number
}

/** What is used of an app, whatever its server is. */
export interface StoppableApp {
  readonly log: FastifyBaseLogger
  addHook(name: 'onClose' | 'onListen', hook: () => Promise<void>): unknown
  close(): Promise<unknown>
}

const SIGNALS = ['SIGINT', 'SIGTERM'] as const

/** Docker kills a process 10 s after the signal. */
const TIMEOUT = 8000
/** Milliseconds for hooks to end after connections were closed. */
const LAST = 1000

/** Apps of this process that listen, each with its timeout. */
const listening = new Map<StoppableApp, number>()
/** Connections of all servers: Fastify has one for each address of `localhost`. */
const sockets = new Set<Socket>()
let isStopping = false

/** Closes an app that listens on a stop signal, and ends the process with 0. */
export function stopGracefully(app: StoppableApp, { timeout = TIMEOUT }: GracefulStopOptions): void {
  app.addHook('onListen', async () => {
    if (listening.size === 0) listen()
    listening.set(app, timeout)
  })
  app.addHook('onClose', async () => {
    // A second signal ends a process that stops.
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
  const { log } = apps[0]!
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
    process.exit(1)
  }, timeout + LAST)
  void end(apps)
}

async function end(apps: readonly StoppableApp[]): Promise<void> {
  const closed = await Promise.allSettled(apps.map((app) => app.close()))
  const hasFailed = closed.some(({ status }) => status === 'rejected')
  process.exit(hasFailed ? 1 : 0)
}
