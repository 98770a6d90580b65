// Entry of a worker process: loads the app, and serves connections as the primary commands.

import { once } from 'node:events'
import type { Server } from 'node:net'
import { constants } from 'node:os'
import { extname } from 'node:path'
import { inspect } from 'node:util'
import { ListenHook, nothingListened } from '../app/listen-hook.ts'
import { type App, loadApp } from '../app/load-app.ts'
import { checkReady, NotReadyError } from '../app/ready-check.ts'
import { Affinity } from '../connections/affinity.ts'
import { Connections } from '../connections/connections.ts'
import type { Leaving } from '../connections/handover.ts'
import { ClusteredServerError, type ClusteredServerErrorCode, errorCodes } from '../errors.ts'
import {
  decode,
  encode,
  type StartMessage,
  type ThrownError,
  type ToPrimary,
  type ToWorker,
  WORKER_ID,
} from '../ipc/messages.ts'
import { sendToPrimary } from '../ipc/send-to-primary.ts'
import { findRegistry } from '../observability/prom-client.ts'
import { outliveOutputs } from '../platform/lost-outputs.ts'
import { canHandOver, type RawHandle } from '../platform/node-internals.ts'
import { startReporter } from './blocked-loop-report.ts'
import { BuildRouting } from './build-routing.ts'
import { Heartbeat } from './heartbeat.ts'
import { LoadingChannel } from './loading-channel.ts'
import { isCandidate, resign } from './run-on-one-worker.ts'
import { isListenPending, listenShared, listensSettled, receiveShared } from './shared-listen.ts'

/** Milliseconds between two heartbeats. */
const HEARTBEAT_MS = 100
/** Milliseconds for requests to end when the primary has died. */
const ORPHAN_TIMEOUT = 1200
/** Milliseconds after which an orphaned process exits in any case. */
const ORPHAN_EXIT = 1600
/** Milliseconds for an app to close its WebSockets itself before close frames are sent. */
const OWN_CLOSE_MS = 100
/** Milliseconds for the registry of an app to collect its final metrics. */
const METRICS_TIMEOUT = 500
const STICKY_APP = 'The option "sticky" needs an HTTP/1 server without TLS: other connections cannot be handed over'
/** Module of the thread that reports a blocked event loop. */
const REPORTER = new URL(`blocked-loop-report-thread${extname(import.meta.filename)}`, import.meta.url)

// The primary gets these signals too and coordinates: a terminal sends them to the whole process group.
for (const signal of ['SIGINT', 'SIGTERM', 'SIGHUP', 'SIGUSR2'] as const) process.on(signal, () => {})
outliveOutputs()

let start: StartMessage
let app: App | undefined
let connections: Connections
/** Connections of servers beside the main one. */
const others = new Set<Connections>()
let heartbeat: Heartbeat | undefined
/** With the option `linger`. */
let builds: BuildRouting | undefined
/** With the option `sticky`. */
let affinity: Affinity | undefined
let isLeaving = false
let isOrphan = false

process.on('message', (sent, handle) => {
  const message = decode(sent) as ToWorker | undefined
  if (message) void obey(message, handle as unknown as RawHandle | undefined).catch(fail)
})
process.once('disconnect', endAsOrphan)

/** Ends this process without handover, because the primary has died. */
function endAsOrphan(): void {
  if (isOrphan) return
  isOrphan = true
  setTimeout(() => process.exit(), ORPHAN_EXIT)
  void leave(false, ORPHAN_TIMEOUT)
}

async function obey(message: ToWorker, handle: RawHandle | undefined): Promise<void> {
  switch (message.type) {
    case 'start':
      start = message
      return load()
    case 'listen':
      return listen()
    case 'connection':
      // Node withholds messages whose handle was lost; this code must not depend on that.
      if (!handle) return
      heartbeat?.onAdopt()
      return connections.adopt(handle, message.idleMs)
    case 'workers':
      if (affinity) affinity.workers = message.ids
      return
    case 'rebalance':
      return connections.rebalance(message.count)
    case 'shared':
      return receiveShared(message.request, handle ?? message.error ?? -constants.errno.EMFILE)
    case 'linger':
      return linger()
    case 'builds':
      return builds?.update(message.builds)
    case 'retire':
      return leave(message.handOver, start.drainTimeout)
    case 'stats':
      return heartbeat && sendToPrimary({ type: 'stats', stats: heartbeat.stats() })
    case 'metrics':
      return sendMetrics()
  }
}

async function load(): Promise<void> {
  affinity = start.sticky ? new Affinity(Number(process.env[WORKER_ID])) : undefined
  builds = start.buildSocket === undefined ? undefined : new BuildRouting(start.buildSocket)
  if (start.report) startReporter(REPORTER, { ...start.report, worker: process.env[WORKER_ID]! })
  /** Describes the default export of an app that may listen later. */
  let exported: string | undefined
  const reportMissing = (): void => {
    if (exported === undefined) return
    sendToPrimary({ type: 'waiting', missing: nothingListened(start, hook.elsewhere, exported) })
  }
  const hook = new ListenHook(start, {
    onExpected: (server) => {
      connections ??= connectionsOf(server)
    },
    onOther: (server, options) => {
      if (builds?.owns(server)) return
      addOther(server)
      // Where processes cannot inherit sockets, `node:cluster` shares them.
      if (start.fd !== undefined && options.fd === undefined && !options.exclusive) listenShared(server, options)
      reportMissing()
    },
  })
  const loaded = await loadOnChannel(hook, (description) => {
    exported = description
    reportMissing()
  })
  exported = undefined
  // With a shared port, `listening` needs a response of the primary.
  if (hook.server && !hook.server.listening) await once(hook.server, 'listening')
  if (start.readyPath !== undefined) {
    sendToPrimary({ type: 'checking' })
    await checkReady(loaded.server, start.readyPath)
  }
  await listensSettled()
  connections ??= connectionsOf(loaded.server)
  if (start.sticky && !connections.canHandOver)
    throw new ClusteredServerError('CLUSTERED_SERVER_INVALID_APP', STICKY_APP)
  await builds?.open(loaded.server)
  app = loaded
  heartbeat = new Heartbeat(connections, start.stats)
  // Before `loaded`: from then on the primary expects statistics.
  beat()
  setInterval(beat, HEARTBEAT_MS).unref()
  sendToPrimary({ type: 'loaded', canHandOver: connections.canHandOver, host: hook.host })
  // An app that listens by itself cannot be on standby.
  if (loaded.server.listening) sendToPrimary({ type: 'listening' })
}

async function loadOnChannel(hook: ListenHook, onWait: (exported: string) => void): Promise<App> {
  // Where `node:cluster` shares sockets, nobody else knows what it waits for.
  const mayRespond = (): boolean => start.fd === undefined || isLeaving || isListenPending() || isCandidate()
  const channel = new LoadingChannel(mayRespond)
  const loaded = await loadApp(start.app, hook, { onWait, isPending: channel.isPending })
  channel.end()
  return loaded
}

async function listen(): Promise<void> {
  const { fd, port, host, path } = start
  await app!.listen(path === undefined ? (fd === undefined ? { port, host } : { fd, host }) : { path })
  sendToPrimary({ type: 'listening' })
}

function connectionsOf(server: Server): Connections {
  const ofServer = new Connections(server, start.fd !== undefined && canHandOver() ? { send, affinity } : undefined)
  if (ofServer.canHandOver) server.on('connection', () => heartbeat?.onConnection())
  return ofServer
}

/** Includes the connections of a server beside the main one in the drain. */
function addOther(server: Server): void {
  const ofServer = new Connections(server)
  others.add(ofServer)
  server.once('close', () => others.delete(ofServer))
}

function beat(): void {
  // While a connection waits to be sent, Node emits no `disconnect`.
  if (!process.connected) endAsOrphan()
  else heartbeat!.beat()
}

/** Stops accepting connections and hands them over, but keeps serving forwarded requests. */
async function linger(): Promise<void> {
  await drainAll(true, start.drainTimeout)
  for (const one of [connections, ...others]) one.sendCloseFrames()
}

/** Resolves when connections and tasks have ended, or after `timeout` milliseconds. */
async function drainAll(handOver: boolean, timeout: number): Promise<void> {
  const timedOut = new Promise((resolve) => setTimeout(resolve, timeout))
  const drained = [...others].map((other) => other.drain(false, timeout))
  await Promise.all([connections?.drain(handOver, timeout), ...drained, Promise.race([resign(), timedOut])])
}

/** Stops accepting connections, drains, closes the app and exits. */
async function leave(handOver: boolean, timeout: number): Promise<void> {
  if (isLeaving) return
  isLeaving = true
  await Promise.all([drainAll(handOver, timeout), builds?.drain(timeout)])
  setTimeout(() => {
    for (const one of [connections, ...others]) one?.sendCloseFrames()
  }, OWN_CLOSE_MS)
  await app?.close()
  for (const one of [connections, ...others]) one?.destroy()
  // Otherwise counts since the last request for metrics would be lost. A registry that hangs must not stop the exit.
  if (app && start.hasMetrics)
    await Promise.race([sendMetrics(), new Promise((resolve) => setTimeout(resolve, METRICS_TIMEOUT))])
  process.exit()
}

/** Resolves when the metrics are sent. */
async function sendMetrics(): Promise<void> {
  const { registry, file } = findRegistry(app?.metrics) ?? {}
  let message: ToPrimary
  try {
    message = { type: 'metrics', metrics: (await registry?.getMetricsAsJSON()) ?? [], file }
  } catch (error) {
    // A gauge whose `collect` throws must not end the process.
    message = { type: 'metrics', metrics: [], failure: error instanceof Error ? error.message : String(error) }
  }
  if (!process.connected) return
  await new Promise((resolve) => process.send!(encode(message), resolve))
}

function send({ handle, idleMs, to }: Leaving, done: () => void): void {
  process.send!(encode({ type: 'connection', idleMs, to }), handle as never, {}, () => done())
}

function fail(error: unknown): void {
  const failure = error instanceof Error ? error : new Error(inspect(error))
  const code = codeOf(error)
  // Only an error of the app's own code has a stack that matters.
  const isThrown = code === undefined && !(error instanceof NotReadyError)
  const cause = thrown(isThrown ? failure : failure.cause)
  const message = encode({ type: 'failed', message: failure.message, code, cause, isThrown })
  // Exits once the message is sent.
  if (process.connected) process.send!(message, () => process.exit(1))
  else process.exit(1)
}

function thrown(error: unknown): ThrownError | undefined {
  if (!(error instanceof Error)) return undefined
  const { name, message, stack, code } = error as NodeJS.ErrnoException
  return { name, message, stack, code: typeof code === 'object' ? undefined : code }
}

/** The code of an error of this package, also of another copy that the app has loaded. */
function codeOf(error: unknown): ClusteredServerErrorCode | undefined {
  if (!(error instanceof Error) || error.name !== ClusteredServerError.name) return undefined
  const { code } = error as ClusteredServerError
  return Object.hasOwn(errorCodes, code) ? code : undefined
}
