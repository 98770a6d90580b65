// What a worker runs: it loads the app, and does with its connections what the primary says.

import { once } from 'node:events'
import { constants } from 'node:os'
import { extname } from 'node:path'
import { performance } from 'node:perf_hooks'
import type { Server } from 'node:net'
import { Connections } from '../connections/connections.ts'
import { UNEVEN } from '../primary/excess-connections.ts'
import { writeFigures } from '../ipc/shared-stats.ts'
import { ClusteredServerError } from '../errors.ts'
import { ListenWatch, nothingListened } from '../app/listen-hook.ts'
import { loadApp } from '../app/load-app.ts'
import { outliveOutputs } from '../platform/lost-outputs.ts'
import { canHandOver } from '../platform/node-internals.ts'
import {
  opened,
  sealed,
  type StartMessage,
  type ToPrimary,
  type ToWorker,
  type WorkerFigures,
} from '../ipc/messages.ts'
import type { RawHandle } from '../platform/node-internals.ts'
import { findRegistry } from '../observability/prom-client.ts'
import { checkReady, NotReadyError } from '../app/ready-check.ts'
import { resign } from './run-on-one-worker.ts'
import { listenShared, listensSettled, receiveShared } from './shared-listen.ts'
import { startReporter } from './blocked-loop-report.ts'
import { tellPrimary } from '../ipc/send-to-primary.ts'

/** Milliseconds that requests have to end, when nobody is there any more to take over. */
const ORPHAN_TIMEOUT = 1200
/** Milliseconds between two signs of life: without one for long it is taken for stuck. */
const HEARTBEAT = 100
/** Heartbeats between two looks at its memory, which take a tenth of a millisecond. */
const MEMORY = 10
/** Milliseconds in which more connections of a burst may come before the primary is told of it, and between two such. */
const BURST = { settles: 20, pause: 500 }
/** Milliseconds within which the process has ended then, whatever else there is to do. */
const ORPHAN_END = 1600
/** What the thread runs that tells of a stuck event loop. */
const REPORTER = new URL(`blocked-loop-report-thread${extname(import.meta.filename)}`, import.meta.url)
/** Milliseconds of its way to close in which an app can say goodbye to its WebSockets itself. */
const OWN_GOODBYE = 100

// The primary hears them too, and says what is to be done. Whoever sends them to a whole group means that as well.
for (const signal of ['SIGINT', 'SIGTERM', 'SIGHUP', 'SIGUSR2'] as const) process.on(signal, () => {})
outliveOutputs()

let start: StartMessage
let connections: Connections
/** Those of servers that listen elsewhere. */
const others = new Set<Connections>()
let listen: () => Promise<void>
let close: () => Promise<void>
let leaves = false
let isOrphan = false
/** What the app's module exports as `metrics`. */
let exportedMetrics: unknown
/** Whether anybody is interested in what the app has measured. */
let isMeasured = false
let before = performance.eventLoopUtilization()
/** Connections that there were at the last heartbeat, and those that have come from others since. */
let connectionsBefore = 0
let nextBurst = 0
let lastMemory = process.memoryUsage()
let beats = 0

process.on('message', (sent, handle) => {
  const message = opened(sent) as ToWorker | undefined
  if (message) void obey(message, handle as unknown as RawHandle | undefined).catch(fail)
})
process.once('disconnect', endAsOrphan)

/** Nobody is there any more to take over. */
function endAsOrphan(): void {
  if (isOrphan) return
  isOrphan = true
  setTimeout(() => process.exit(), ORPHAN_END)
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
      // Node keeps back those whose handle was lost, and this is not to depend on it.
      if (!handle) return
      // It is none that has come by itself.
      connectionsBefore++
      return connections.adopt(handle, message.rested)
    case 'shed':
      return connections.shed(message.count)
    case 'shared':
      return receiveShared(message.request, handle ?? message.error ?? -constants.errno.EMFILE)
    case 'retire':
      return leave(message.handOver, start.drainTimeout)
    case 'figures':
      return tellPrimary({ type: 'figures', figures: figures() })
    case 'metrics':
      isMeasured = true
      return tellMetrics()
  }
}

async function load(): Promise<void> {
  if (start.report) startReporter(REPORTER, { ...start.report, worker: process.env['CLUSTERED_SERVER_WORKER']! })
  const connectionsOf = (server: Server): Connections => {
    const ofServer = new Connections(server, start.fd !== undefined && canHandOver() ? send : undefined)
    if (ofServer.canMove) server.on('connection', onConnection)
    return ofServer
  }
  // An app that listens by itself, where the primary does, listens on the primary's socket.
  let isWaiting = false
  const tellMissing = (): void => {
    if (isWaiting) tellPrimary({ type: 'waiting', missing: nothingListened(start, watch.elsewhere) })
  }
  const watch = new ListenWatch(start, {
    onExpected: (server) => {
      connections ??= connectionsOf(server)
    },
    onOther: (server, options) => {
      addOther(server)
      // Where no process inherits sockets, `node:cluster` shares them.
      if (start.fd !== undefined && options.fd === undefined && !options.exclusive) listenShared(server, options)
      tellMissing()
    },
  })
  const app = await loadApp(start.app, watch, () => {
    isWaiting = true
    tellMissing()
  })
  isWaiting = false
  // Where the port is shared, the primary has to answer first.
  if (watch.server && !watch.server.listening) await once(watch.server, 'listening')
  if (start.readyPath !== undefined) {
    tellPrimary({ type: 'checking' })
    await checkReady(app.server, start.readyPath)
  }
  await listensSettled()
  connections ??= connectionsOf(app.server)
  listen = async () => {
    const { fd, port, host, path } = start
    await app.listen(path === undefined ? (fd === undefined ? { port, host } : { fd, host }) : { path })
    tellPrimary({ type: 'listening' })
  }
  close = app.close
  exportedMetrics = app.metrics
  // Whoever takes it for one that is loaded knows its figures.
  beat()
  tellPrimary({ type: 'loaded', canMove: connections.canMove })
  setInterval(beat, HEARTBEAT).unref()
  // It cannot be had in reserve.
  if (app.server.listening) tellPrimary({ type: 'listening' })
}

/** Sees to it that the connections of a server that listens elsewhere end in good order too. */
function addOther(server: Server): void {
  const ofServer = new Connections(server)
  others.add(ofServer)
  server.once('close', () => others.delete(ofServer))
}

function beat(): void {
  // While a connection waits to be sent, Node does not say that the primary has gone.
  if (!process.connected) return endAsOrphan()
  const used = performance.eventLoopUtilization()
  const now = figures(used)
  before = used
  connectionsBefore = now.connections
  if (start.figures && writeFigures(start.figures, now)) return
  tellPrimary({ type: 'figures', figures: now })
}

/** Has the primary see to it that all workers have their share of connections that were opened at the same moment. */
function onConnection(): void {
  if (connections.count - connectionsBefore <= UNEVEN.connections) return
  const now = performance.now()
  if (now < nextBurst) return
  nextBurst = now + BURST.pause
  setTimeout(tellPrimary, BURST.settles, { type: 'burst' }).unref()
}

/** Takes no new connections, ends those that there are in good order, closes the app and ends. */
async function leave(handOver: boolean, timeout: number): Promise<void> {
  if (leaves) return
  leaves = true
  const isOver = new Promise((resolve) => setTimeout(resolve, timeout))
  const drained = [...others].map((other) => other.drain(false, timeout))
  await Promise.all([connections?.drain(handOver, timeout), ...drained, Promise.race([resign(), isOver])])
  setTimeout(() => {
    for (const one of [connections, ...others]) one?.sayGoodbye()
  }, OWN_GOODBYE)
  await close?.()
  for (const one of [connections, ...others]) one?.destroy()
  // What was counted since the last time would be lost.
  if (isMeasured) await tellMetrics()
  process.exit()
}

/** Resolves when they are on their way. */
async function tellMetrics(): Promise<void> {
  const { registry, file } = findRegistry(exportedMetrics) ?? {}
  let message: ToPrimary
  try {
    message = { type: 'metrics', metrics: (await registry?.getMetricsAsJSON()) ?? [], file }
  } catch (error) {
    // A gauge whose `collect` throws is no reason to end the process.
    message = { type: 'metrics', metrics: [], failure: error instanceof Error ? error.message : String(error) }
  }
  if (!process.connected) return
  await new Promise((resolve) => process.send!(sealed(message), resolve))
}

function send(handle: RawHandle, rested: number, done: () => void): void {
  process.send!(sealed({ type: 'connection', rested }), handle as never, {}, () => done())
}

function figures(used = performance.eventLoopUtilization()): WorkerFigures {
  const { rss, heapUsed } = memory()
  const { utilization } = performance.eventLoopUtilization(used, before)
  return { connections: connections?.count ?? 0, requests: connections?.requests ?? 0, rss, heapUsed, utilization }
}

/** Reading it takes a descriptor: where none is left, it is as it last was. */
function memory(): NodeJS.MemoryUsage {
  if (beats++ % MEMORY > 0) return lastMemory
  try {
    lastMemory = process.memoryUsage()
  } catch {}
  return lastMemory
}

function fail(error: unknown): void {
  const { message, stack } = error instanceof Error ? error : new Error(String(error))
  const code = error instanceof ClusteredServerError ? error.code : undefined
  // Where something in the app's own code is wrong, its place matters.
  const place = code || error instanceof NotReadyError ? undefined : stack
  // Only then may it end: the message is on its way.
  if (process.connected) process.send!(sealed({ type: 'failed', message, stack: place, code }), () => process.exit(1))
  else process.exit(1)
}
