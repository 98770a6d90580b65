import { EventEmitter, once } from 'node:events'
import type { Metric, OtherBuild, SocketQuery, StatsSlot, ToPrimary } from '../ipc/messages.ts'
import type { SharedStats } from '../ipc/shared-stats.ts'
import type { ReportSetup } from '../options/types.ts'
import type { RawHandle } from '../platform/node-internals.ts'
import type { BlockedLoopReport, WorkerExit, WorkerState, WorkerStats } from '../server-types.ts'
import { Liveness } from './worker-liveness.ts'
import { requestReport } from './blocked-loop-request.ts'
import type { MovingConnection } from './moving-connection.ts'
import { StartProgress } from './start-state.ts'
import { LISTENER_FD, REPORT_FD, STATS_FD, WorkerChannel } from './worker-channel.ts'
import type { WorkerRole, WorkerSetup } from './worker-setup.ts'

interface WorkerEvents {
  /** The process has ended. */
  exit: [WorkerExit]
  /** The worker accepts connections from now on. */
  active: []
  /** The worker has named the build of its app. */
  build: []
  /** The worker serves only requests for its older build. */
  lingering: []
  /** The worker stops accepting connections. */
  retiring: []
  /** A connection for another worker: a certain one, or any. */
  connection: [connection: MovingConnection, to: number | undefined]
  /** The worker has no free descriptor for a connection. */
  refused: [MovingConnection]
  /** This process had no free descriptor for a connection of the worker. */
  lost: []
  /** The worker requests a shared socket. */
  share: [request: number, query: SocketQuery]
  /** The worker no longer accepts from a shared socket. */
  unshare: [query: SocketQuery]
  /** The worker has tasks for one worker only. */
  candidate: []
  /** The worker has ended these tasks. */
  resigned: []
  /** Many connections have arrived at once. */
  burst: []
  /** The worker has no free descriptor, and closes new connections. */
  full: []
  /** The worker has sent its statistics. */
  stats: []
  /** The app's metrics and the file of its prom-client; or the reason why its registry failed. */
  metrics: [metrics: readonly Metric[], file: string | undefined, failure: string | undefined]
}

/** A worker as the primary sees it. */
export class WorkerHandle extends EventEmitter<WorkerEvents> {
  readonly id: number
  readonly generation: number
  readonly startedAt: number = Date.now()
  /** Resolves when the app is loaded and warm. */
  readonly loaded: Promise<void>
  /** Resolves when the process has ended and its output has been written. */
  readonly ended: Promise<WorkerExit>
  readonly liveness: Liveness = new Liveness()
  state: WorkerState = 'starting'
  /** Whether connections can be handed over from and to this worker. */
  canHandOver = false
  /** Host that the app names, if it listens by itself. The server's own host counts. */
  appHost: string | undefined
  stats: WorkerStats = { connections: 0, requests: 0, rss: 0, heapUsed: 0, utilization: 0 }
  /** When the worker became active, by `performance.now()`; `Infinity` before. */
  activeAt: number = Infinity
  role: WorkerRole = 'standby'
  /** The build of its app and the socket for forwarded requests, with the option `linger`. */
  build: { readonly ids: readonly string[]; readonly folders: readonly string[] } | undefined
  readonly buildSocket: string | undefined
  readonly #channel: WorkerChannel
  readonly #progress: StartProgress
  readonly #startTimeout: number
  readonly #blockedLoopReport: ReportSetup | undefined
  /** Called whenever the state may have changed. */
  readonly #waiting = new Set<() => void>()
  readonly #sharedStats: SharedStats | undefined
  readonly #slot: StatsSlot | undefined
  #statsAt = 0
  /** Connections handed over to the worker since its latest statistics. */
  #handedOverSince = 0
  #exit: WorkerExit | undefined

  constructor(setup: WorkerSetup) {
    const { id, generation, startTimeout, blockedLoopReport, entry, cwd, execArgv, ...others } = setup
    const { args, env, outputPrefix, fd, sharedStats, ...start } = others
    super()
    this.id = id
    this.generation = generation
    this.buildSocket = start.buildSocket
    this.#startTimeout = startTimeout
    this.#blockedLoopReport = blockedLoopReport
    this.#sharedStats = sharedStats
    this.#slot = sharedStats?.add()
    this.#progress = new StartProgress(start.readyPath, startTimeout)
    const hasReportPipe = blockedLoopReport !== undefined
    this.#channel = new WorkerChannel({
      ...{ entry, cwd, execArgv, args, env, outputPrefix, fd, hasReportPipe },
      statsFd: this.#slot?.fd,
    })
    const { outputWritten } = this.#channel
    this.ended = new Promise((resolve) => {
      this.#channel.once('exit', (exit) => {
        this.#onExit(exit)
        void outputWritten.then(() => resolve(exit))
      })
    })
    this.#listenToChannel()
    this.loaded = this.#waitUntil(() => this.state !== 'starting')
    // A failed start is also reported by the event `exit`.
    this.loaded.catch(() => {})
    this.#channel.send({
      ...{ type: 'start', ...start, fd: fd === undefined ? undefined : LISTENER_FD },
      stats: this.#slot && { fd: STATS_FD, position: this.#slot.position },
      report: blockedLoopReport && { ...blockedLoopReport, fd: REPORT_FD },
    })
  }

  get pid(): number | undefined {
    return this.#channel.pid
  }

  /** Why the worker did not start, if known. */
  get failure(): string | undefined {
    return this.#progress.failure
  }

  /** Connections of the worker, including those that are on their way to it. */
  get connections(): number {
    return this.stats.connections + this.#handedOverSince
  }

  /** Whether connections can be sent to the worker. */
  get isConnected(): boolean {
    return this.#channel.isConnected
  }

  /** Makes the worker accept connections once it is loaded, and resolves when it does. */
  async listen(): Promise<void> {
    // An app would fail on a second `listen`.
    const isNew = this.role === 'standby'
    if (isNew) this.role = 'assigned'
    await this.loaded
    if (isNew && this.state === 'standby') this.#channel.send({ type: 'listen' })
    await this.#waitUntil(() => this.state === 'active')
  }

  /** Makes the worker hand its connections over, and serve only requests that others forward. */
  linger(): void {
    this.role = 'lingering'
    this.state = 'lingering'
    this.emit('lingering')
    this.#channel.send({ type: 'linger' })
  }

  /** Tells the worker which builds are served, and where. */
  sendBuilds(builds: readonly OtherBuild[]): void {
    this.#channel.send({ type: 'builds', builds })
  }

  /** Makes the worker end after its connections, which it hands over or closes with their last response. */
  retire(handOver: boolean): void {
    if (this.role === 'retiring' || this.state === 'ended') return
    this.role = 'retiring'
    if (this.state === 'starting') return this.kill()
    this.state = 'retiring'
    this.emit('retiring')
    this.#channel.send({ type: 'retire', handOver })
  }

  /** Tells the worker which workers accept connections. */
  announce(ids: readonly number[]): void {
    if (this.state !== 'starting') this.#channel.send({ type: 'workers', ids })
  }

  /** Makes the worker hand over `count` connections. */
  rebalance(count: number): void {
    this.#channel.send({ type: 'rebalance', count })
  }

  /** Hands a connection over to the worker. */
  handOver(connection: MovingConnection): void {
    this.#handedOverSince++
    this.#channel.handOver(connection)
  }

  /** Sends a shared socket, or the error number of its failed bind. */
  share(request: number, bound: RawHandle | number): void {
    if (typeof bound === 'number') this.#channel.send({ type: 'shared', request, error: bound })
    else this.#channel.share(request, bound)
  }

  /** Makes the worker run the tasks of `runOnOneWorker()`. */
  lead(): void {
    this.#channel.send({ type: 'lead' })
  }

  /** Requests the app's metrics, and resolves with whether they came within `timeout` milliseconds. */
  requestMetrics(timeout: number): Promise<boolean> {
    return this.#request('metrics', timeout)
  }

  /** Requests current statistics, and resolves with whether they came within `timeout` milliseconds. */
  requestStats(timeout: number): Promise<boolean> {
    return this.#request('stats', timeout)
  }

  /** Reads the statistics that the worker has written to the shared file. */
  poll(): void {
    const written = this.#slot && this.#sharedStats?.read(this.#slot)
    if (!written || written.at === this.#statsAt) return
    this.#statsAt = written.at
    this.liveness.markAlive(written.at)
    this.#setStats(written.stats)
  }

  /** Whether the event loop has been blocked for `timeout` milliseconds. */
  isBlocked(timeout: number): boolean {
    return this.liveness.isBlocked(timeout, this.pid)
  }

  /** Makes the worker report where its event loop is blocked, if the option is set. */
  async report(): Promise<BlockedLoopReport | undefined> {
    const { reportPipe } = this.#channel
    return this.#blockedLoopReport && reportPipe && requestReport(reportPipe, this.#blockedLoopReport.kind)
  }

  kill(): void {
    this.#channel.kill()
  }

  #listenToChannel(): void {
    this.#channel.on('message', (message, handle) => {
      this.liveness.markAlive()
      this.#onMessage(message, handle)
      this.#notifyWaiting()
    })
    this.#channel.on('returned', (connection) => this.emit('connection', connection, undefined))
    this.#channel.on('refused', (connection) => this.emit('refused', connection))
    this.#channel.on('lost', () => this.emit('lost'))
    this.#channel.on('failed', (message) => {
      if (this.failure === undefined) this.#progress.fail({ message })
    })
  }

  #onMessage(message: ToPrimary, handle: RawHandle | undefined): void {
    switch (message.type) {
      case 'waiting':
        return this.#progress.waitFor(message.missing)
      case 'checking':
        return this.#progress.startCheck()
      case 'build':
        this.build = message
        return void this.emit('build')
      case 'loaded':
        this.#progress.finishLoading()
        this.canHandOver = message.canHandOver
        this.appHost = message.host
        if (this.state === 'starting') this.state = 'standby'
        return
      case 'listening':
        return this.#becomeActive()
      case 'failed':
        return this.#progress.fail(message)
      case 'stats':
        this.#setStats(message.stats)
        return void this.emit('stats')
      case 'connection':
        // Node withholds messages whose handle was lost; this code must not depend on that.
        if (handle) this.emit('connection', { handle, idleMs: message.idleMs, refusedBy: [] }, message.to)
        return
      case 'share':
        return void this.emit('share', message.request, message.query)
      case 'unshare':
        return void this.emit('unshare', message.query)
      case 'metrics':
        return void this.emit('metrics', message.metrics, message.file, message.failure)
      case 'burst':
      case 'full':
      case 'candidate':
      case 'resigned':
        this.emit(message.type)
    }
  }

  #becomeActive(): void {
    if (this.state !== 'standby') return
    this.state = 'active'
    this.activeAt = performance.now()
    this.emit('active')
  }

  #setStats(stats: WorkerStats): void {
    this.stats = stats
    this.#handedOverSince = 0
  }

  #request(type: 'stats' | 'metrics', timeout: number): Promise<boolean> {
    const received = once(this, type, { signal: AbortSignal.timeout(timeout) })
    this.#channel.send({ type })
    return received.then(
      () => true,
      () => false,
    )
  }

  /** Resolves when a condition holds, and kills the worker if that takes longer than `startTimeout`. */
  async #waitUntil(condition: () => boolean): Promise<void> {
    const timer = setTimeout(() => {
      this.#progress.failLate()
      this.kill()
    }, this.#startTimeout)
    try {
      await this.#until(condition)
    } finally {
      clearTimeout(timer)
    }
  }

  /** Resolves when a condition holds, and rejects if the process ends before. */
  #until(condition: () => boolean): Promise<void> {
    return new Promise((resolve, reject) => {
      const check = (): void => {
        if (condition()) resolve()
        else if (this.state === 'ended') reject(this.#progress.errorOf(this.id, this.#exit ?? {}))
        else return
        this.#waiting.delete(check)
      }
      this.#waiting.add(check)
      check()
    })
  }

  #notifyWaiting(): void {
    for (const check of this.#waiting) check()
  }

  #onExit(exit: WorkerExit): void {
    this.state = 'ended'
    this.#exit = exit
    if (this.#slot) this.#sharedStats?.remove(this.#slot)
    this.#notifyWaiting()
    this.emit('exit', exit)
  }
}
