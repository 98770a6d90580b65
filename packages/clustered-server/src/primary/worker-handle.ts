import { type ChildProcess, fork, type ForkOptions } from 'node:child_process'
import { EventEmitter, once } from 'node:events'
import { extname } from 'node:path'
import type { Duplex } from 'node:stream'
import { fileURLToPath } from 'node:url'
import { coreTime } from '../platform/proc-stat.ts'
import { ClusteredServerError, type ClusteredServerErrorCode } from '../errors.ts'
import { type FiguresFile, now, type Place } from '../ipc/shared-stats.ts'
import { opened, sealed, type ToPrimary, type ToWorker, type WorkerFigures } from '../ipc/messages.ts'
import { forkInCluster } from '../platform/node-cluster.ts'
import { lateText, type Missing } from '../app/listen-hook.ts'
import { onHandleLost, type RawHandle } from '../platform/node-internals.ts'
import type { Metric } from '../observability/prom-client.ts'
import type { SocketQuery } from './shared-sockets.ts'
import { askForReport, type ReportSetup, type StuckReport } from '../worker/blocked-loop-report.ts'

/**
 * How far a worker is: its app is being loaded, it is ready and waits, it takes connections, it takes no new ones, or
 * its process has ended.
 */
export type WorkerState = 'starting' | 'spare' | 'active' | 'retiring' | 'ended'

/** How a process ended: by itself or by a signal. */
export interface WorkerExit {
  readonly code: number | null
  readonly signal: NodeJS.Signals | null
}

/** What a worker is started with. */
export interface WorkerSetup {
  readonly id: number
  readonly generation: number
  readonly app: string
  readonly host: string
  readonly port: number
  readonly path: string | undefined
  /** The listening socket here. */
  readonly fd: number | undefined
  readonly readyPath: string | undefined
  readonly drainTimeout: number
  readonly startTimeout: number
  readonly stuckReport: ReportSetup | undefined
  readonly execArgv: readonly string[]
  readonly env: NodeJS.ProcessEnv
  /** Where it writes down its figures; without it, it tells them. */
  readonly file: FiguresFile | undefined
}

interface WorkerEvents {
  /** The process has ended. */
  exit: [WorkerExit]
  /** It takes connections from now on. */
  active: []
  /** A connection that is to go to another worker. */
  connection: [handle: RawHandle, rested: number]
  /** A process, it or this one, had no descriptor for a connection that was sent. */
  lost: [pid: number | undefined]
  /** It is to be sent a socket to listen on. */
  share: [request: number, query: SocketQuery]
  /** It accepts no longer from such a socket. */
  unshare: [query: SocketQuery]
  /** There is something that only one worker is to do. */
  candidate: []
  /** It does no longer what only one worker does. */
  resigned: []
  /** Many connections have come to it at once. */
  burst: []
  /** It has told its figures. */
  figures: []
  /** What its app has measured, and the file of the prom-client that did; or why its registry failed. */
  metrics: [metrics: readonly Metric[], file: string | undefined, failure: string | undefined]
}

const ENTRY = new URL(`../worker/entry${extname(import.meta.filename)}`, import.meta.url)
/** The first descriptor after those of stdin, stdout, stderr and the channel. */
const LISTENER_FD = 4
/** That of the file in which it writes down its figures. */
const FIGURES_FD = 5
/** That of the pipe to the thread which tells of a stuck event loop. */
const REPORT_FD = 6

/** Whether this process is a worker. */
export function isWorker(): boolean {
  return process.argv[1] === fileURLToPath(ENTRY)
}

/** Milliseconds of silence from which on it is looked why: a worker gives a sign of life every 100. */
const UNUSUAL = 250
/** The share of a core with which one that is silent has one. */
const HAS_CORE = 2 / 3

/** A worker as the primary sees it. */
export class WorkerProcess extends EventEmitter<WorkerEvents> {
  readonly id: number
  readonly generation: number
  readonly startedAt: number = Date.now()
  /** Resolves when the app is loaded and warm. */
  readonly loaded: Promise<void>
  /** Resolves with how the process has ended. */
  readonly ended: Promise<WorkerExit>
  state: WorkerState = 'starting'
  /** Whether its connections can come from and go to other workers. */
  canMove = false
  /** What it last said of itself. */
  figures: WorkerFigures = { connections: 0, requests: 0, rss: 0, heapUsed: 0, utilization: 0 }
  /** Connections that were sent to it since. */
  sentSince = 0
  /** When it began to take connections, by `performance.now()`; not yet if that is infinite. */
  activeAt: number = Infinity
  /** Whether it is meant to end. */
  leaves = false
  /** Whether it is meant to take connections, now or once it can: else it is in reserve. */
  isCalled = false
  readonly #child: ChildProcess
  readonly #startTimeout: number
  readonly #readyPath: string | undefined
  readonly #stuckReport: ReportSetup | undefined
  /** What looks at the state, whenever it may have changed. */
  readonly #waiting = new Set<() => void>()
  /** Connections that it has not got yet, and how long they had rested. */
  readonly #given = new Map<RawHandle, number>()
  readonly #file: FiguresFile | undefined
  readonly #place: Place | undefined
  /** When it last gave a sign of life, by `now()`. */
  #heardAt = now()
  /** When it last wrote down its figures. */
  #writtenAt = 0
  /** When its silence was noticed, and the milliseconds that it had run. */
  #silence: { readonly at: number; readonly ran: number } | undefined
  /** What its app lacks, once it is loaded. */
  #missing: Missing | undefined
  /** Whether its app was asked for `readyPath` and has not responded yet. */
  #isChecked = false
  #failure: string | undefined
  #failureCode: ClusteredServerErrorCode = 'CLUSTERED_SERVER_START_FAILED'
  #exit: WorkerExit | undefined

  constructor(setup: WorkerSetup) {
    const { id, generation, startTimeout, stuckReport, execArgv, env, fd, file, ...start } = setup
    super()
    this.id = id
    this.generation = generation
    this.#stuckReport = stuckReport
    this.#file = file
    this.#place = file?.add()
    const report = stuckReport ? (['pipe'] as const) : []
    const forked: ForkOptions = {
      execArgv: [...execArgv],
      env,
      stdio: ['ignore', 'inherit', 'inherit', 'ipc', fd ?? 'ignore', this.#place?.fd ?? 'ignore', ...report],
      serialization: 'json',
    }
    this.#child = fd === undefined ? forkInCluster(ENTRY, forked) : fork(ENTRY, [], forked)
    // One that is killed resets it.
    this.#reportPipe?.on('error', () => {})
    this.ended = this.#ended()
    this.#child.on('message', (sent, handle) => {
      const message = opened(sent) as ToPrimary | undefined
      if (message) this.#hear(message, handle as unknown as RawHandle | undefined)
    })
    onHandleLost(this.#child, (isHere) => this.emit('lost', isHere ? process.pid : this.pid))
    // Of what still waits to be sent then, nobody says that it failed; and while something waits, Node does not say either
    // that the channel of a process that has died is closed.
    for (const event of ['disconnect', 'exit'] as const) this.#child.once(event, () => this.#takeBack())
    this.#startTimeout = startTimeout
    this.#readyPath = start.readyPath
    this.loaded = this.#within(
      () => {
        if (this.#isChecked) return { what: `its app did not respond to GET ${this.#readyPath}` }
        return this.#missing ?? { what: 'its app was not loaded' }
      },
      () => this.state !== 'starting',
    )
    // Whoever waits hears of it; so does, by `exit`, whoever does not.
    this.loaded.catch(() => {})
    this.#tell({
      ...{ type: 'start', ...start, fd: fd === undefined ? undefined : LISTENER_FD },
      figures: this.#place && { fd: FIGURES_FD, position: this.#place.position },
      report: stuckReport && { ...stuckReport, fd: REPORT_FD },
    })
  }

  get pid(): number | undefined {
    return this.#child.pid
  }

  /** Why it did not start, if it did not and that is known. */
  get failure(): string | undefined {
    return this.#failure
  }

  /** Connections that it has, as far as is known. */
  get connections(): number {
    return this.figures.connections + this.sentSince
  }

  /** Whether connections can be given to it, and come from it. */
  get isConnected(): boolean {
    return this.#child.connected
  }

  /** Has it take connections as soon as it can, and resolves when it does. */
  async listen(): Promise<void> {
    // An app that is told twice would fail.
    const isNew = !this.isCalled
    this.isCalled = true
    await this.loaded
    if (isNew && this.state === 'spare') this.#tell({ type: 'listen' })
    await this.#within(
      () => ({ what: 'it took no connections' }),
      () => this.state === 'active',
    )
  }

  /** Has it end when its connections have: they go to others, or are told with their last answer. */
  retire(handOver: boolean): void {
    if (this.leaves || this.state === 'ended') return
    this.leaves = true
    if (this.state === 'starting') return this.kill()
    this.state = 'retiring'
    this.#tell({ type: 'retire', handOver })
  }

  /** Has it give away so many of its connections that rest. */
  shed(count: number): void {
    this.#tell({ type: 'shed', count })
  }

  /** Gives it a connection. */
  give(handle: RawHandle, rested: number): void {
    this.sentSince++
    this.#given.set(handle, rested)
    this.#child.send(sealed({ type: 'connection', rested }), handle as never, {}, (error) => {
      if (!this.#given.delete(handle)) return
      if (error) this.emit('connection', handle, rested)
      else handle.close()
    })
  }

  /** Sends it a socket to listen on, or the number of the error that binding it gave. */
  share(request: number, bound: RawHandle | number): void {
    if (typeof bound === 'number') return this.#tell({ type: 'shared', request, error: bound })
    if (this.#child.connected) this.#child.send(sealed({ type: 'shared', request }), bound as never, {}, () => {})
  }

  /** Has it do what only one worker does. */
  lead(): void {
    this.#tell({ type: 'lead' })
  }

  /** Has it tell what its app has measured, and resolves with whether it did, within so many milliseconds. */
  tellMetrics(patience: number): Promise<boolean> {
    return this.#ask('metrics', patience)
  }

  /** Has it tell its figures of now, and resolves with whether it did, within so many milliseconds. */
  tellFigures(patience: number): Promise<boolean> {
    return this.#ask('figures', patience)
  }

  /** Sees what it has written down since. */
  look(): void {
    const written = this.#place && this.#file?.read(this.#place)
    if (!written || written.at === this.#writtenAt) return
    this.#writtenAt = written.at
    this.#hasLife(written.at)
    this.#setFigures(written.figures)
  }

  /** Takes it for alive now: that nothing was heard of it says nothing of it. */
  excuse(): void {
    this.#hasLife(now())
  }

  /** It is about to be killed, and whatever it does until then is no sign of life. */
  giveUp(): void {
    this.#heardAt = Infinity
  }

  /** Whether nothing was heard of it for longer than usual: what it is given may have to wait. */
  get isSilent(): boolean {
    return this.#heardAt === Infinity || now() - this.#heardAt > UNUSUAL
  }

  /**
   * Whether nothing was heard of it for so many milliseconds, though it was not only a core that it had to wait for: on a
   * machine that has too much to do, whoever could not speak is not stuck.
   */
  isStuck(timeout: number): boolean {
    const at = now()
    const silent = at - this.#heardAt
    if (silent < UNUSUAL || this.pid === undefined) return silent > timeout
    const { ran, isRunnable } = coreTime(this.pid) ?? { ran: Infinity, isRunnable: false }
    const noticed = (this.#silence ??= { at, ran })
    const [since, ranSince] = [at - noticed.at, ran - noticed.ran]
    const hasCore = since > timeout / 4 && ranSince > since * HAS_CORE
    return silent > timeout && (!isRunnable || hasCore || ranSince > timeout / 2)
  }

  /** Has it leave behind where its event loop stands, if it is to, and resolves when it has or can not. */
  async report(): Promise<StuckReport | undefined> {
    return this.#stuckReport && this.#reportPipe && askForReport(this.#reportPipe, this.#stuckReport.kind)
  }

  kill(): void {
    this.#child.kill('SIGKILL')
  }

  get #reportPipe(): Duplex | undefined {
    // A process that could not be started, for want of descriptors, has no `stdio`.
    const stdio = this.#child.stdio as readonly unknown[] | undefined
    return stdio?.[REPORT_FD] as Duplex | undefined
  }

  /** Has others go on with what it has not got. */
  #takeBack(): void {
    const given = [...this.#given]
    this.#given.clear()
    for (const [handle, rested] of given) this.emit('connection', handle, rested)
  }

  #ask(type: 'figures' | 'metrics', patience: number): Promise<boolean> {
    const told = once(this, type, { signal: AbortSignal.timeout(patience) })
    this.#tell({ type })
    return told.then(
      () => true,
      () => false,
    )
  }

  #tell(message: ToWorker): void {
    // One that ends right now will be heard of by its exit.
    if (this.#child.connected) this.#child.send(sealed(message), () => {})
  }

  #hasLife(at: number): void {
    this.#heardAt = Math.max(this.#heardAt, at)
    this.#silence = undefined
  }

  #setFigures(figures: WorkerFigures): void {
    this.figures = figures
    this.sentSince = 0
  }

  #hear(message: ToPrimary, handle: RawHandle | undefined): void {
    this.#hasLife(now())
    switch (message.type) {
      case 'waiting':
        this.#missing = message.missing
        break
      case 'share':
        this.emit('share', message.request, message.query)
        break
      case 'unshare':
        this.emit('unshare', message.query)
        break
      case 'checking':
        this.#isChecked = true
        break
      case 'loaded':
        this.#isChecked = false
        this.canMove = message.canMove
        if (this.state === 'starting') this.state = 'spare'
        break
      case 'listening':
        if (this.state === 'spare') {
          this.state = 'active'
          this.activeAt = performance.now()
          this.emit('active')
        }
        break
      case 'failed':
        this.#failure = message.stack ?? message.message
        this.#failureCode = message.code ?? this.#failureCode
        break
      case 'figures':
        this.#setFigures(message.figures)
        this.emit('figures')
        break
      case 'connection':
        // Node keeps back those whose handle was lost, and this is not to depend on it.
        if (handle) this.emit('connection', handle, message.rested)
        break
      case 'metrics':
        this.emit('metrics', message.metrics, message.file, message.failure)
        break
      case 'burst':
      case 'candidate':
      case 'resigned':
        this.emit(message.type)
    }
    this.#changed()
  }

  /** Resolves when it is so, and ends it if that takes too long. */
  async #within(missing: () => Missing, isSo: () => boolean): Promise<void> {
    const timer = setTimeout(() => {
      this.#failure = lateText(missing(), this.#startTimeout)
      this.kill()
    }, this.#startTimeout)
    try {
      await this.#until(isSo)
    } finally {
      clearTimeout(timer)
    }
  }

  /** Resolves when it is so, and rejects if the process ends before. */
  #until(isSo: () => boolean): Promise<void> {
    return new Promise((resolve, reject) => {
      const look = (): void => {
        if (isSo()) resolve()
        else if (this.state === 'ended') reject(this.#startError())
        else return
        this.#waiting.delete(look)
      }
      this.#waiting.add(look)
      look()
    })
  }

  #changed(): void {
    for (const look of this.#waiting) look()
  }

  #startError(): ClusteredServerError {
    const { code, signal } = this.#exit ?? {}
    const at = this.#isChecked ? `, asked for ${this.#readyPath}` : ''
    const why = this.#failure ?? `its process ended ${signal ? `by ${signal}` : `with code ${code}`}${at}`
    return new ClusteredServerError(this.#failureCode, `Worker ${this.id} did not start: ${why}`)
  }

  #ended(): Promise<WorkerExit> {
    return new Promise((resolve) => {
      const end = (exit: WorkerExit): void => {
        this.state = 'ended'
        this.#exit = exit
        if (this.#place) this.#file?.remove(this.#place)
        this.#changed()
        this.emit('exit', exit)
        resolve(exit)
      }
      this.#child.once('exit', (code, signal) => end({ code, signal }))
      this.#child.on('error', ({ message }) => {
        this.#failure ??= message
        // What could not be started has no exit.
        if (this.#child.pid === undefined) end({ code: null, signal: null })
      })
    })
  }
}
