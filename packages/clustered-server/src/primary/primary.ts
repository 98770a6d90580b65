import { EventEmitter } from 'node:events'
import { setTimeout as sleep } from 'node:timers/promises'
import type { AdminAddress, ClusteredServer, ClusteredServerEvents, ClusterStatus, WorkerName } from '../types.ts'
import { cannotListen, ClusteredServerError } from '../errors.ts'
import { surpluses } from './excess-connections.ts'
import { FiguresFile } from '../ipc/shared-stats.ts'
import { heapArguments } from '../platform/memory-limit.ts'
import { Leadership } from './leader-election.ts'
import { canInheritSockets, findPort, type SharedPort } from '../platform/node-cluster.ts'
import {
  type BoundListener,
  bindListener,
  bindUnixListener,
  canHandOver,
  takeListener,
} from '../platform/node-internals.ts'
import { demandWorkers, type ResolvedOptions } from '../options/options.ts'
import { OrphanWatch } from './orphan-watch.ts'
import { Recycling } from './recycling.ts'
import { RestartPolicy } from './restart-policy.ts'
import { PRIMARY } from '../worker/run-on-one-worker.ts'
import { SharedSockets } from './shared-sockets.ts'
import { passedSocket } from '../platform/systemd.ts'
import { removeStale } from '../platform/unix-socket.ts'
import { WorkerMetrics } from '../observability/app-metrics.ts'
import { type WorkerExit, WorkerProcess } from './worker-handle.ts'

/** Milliseconds between two looks at the workers: each takes a core from one of them. */
const LOOK = 500
/** The same, while one of them gives no sign of life. */
const CLOSER_LOOK = 100
/** Milliseconds by which a look may be late, before this process was one that had no core. */
const LATE = 200
/** Milliseconds between two looks at how even connections are. */
const REBALANCE = 450
/** Milliseconds that workers have to tell how many connections they have after a burst: who takes longer is looked at later. */
const COUNT_PATIENCE = 250
/** Milliseconds that a worker may take after its connections have had all their time. */
const END_PATIENCE = 7000

/** What the workers accept from. */
type Listener = BoundListener | SharedPort

/** The process that owns the socket and the workers. */
export class Primary extends EventEmitter<ClusteredServerEvents> implements ClusteredServer {
  readonly #options: ResolvedOptions
  readonly #listener: Listener
  readonly #canHandOver: boolean
  readonly #workers = new Set<WorkerProcess>()
  readonly #policy = new RestartPolicy()
  readonly #recycling: Recycling
  readonly #restarts = new Set<NodeJS.Timeout>()
  readonly #figures = FiguresFile.create()
  readonly #shared = new SharedSockets()
  #nextLook: NodeJS.Timeout | undefined
  #lookDue = Infinity
  #rebalanceDue = 0
  /** Until when connections may be on their way that are too many for a worker. */
  #movingUntil = 0
  #isCounting = false
  #wanted: number
  #generation = 1
  /** Those that failed have their number too. */
  #lastGeneration = 1
  #lastId = 0
  /** Whether no more workers are started, as they die again and again. */
  #hasGivenUp = false
  /** Reloads and replacements come one after the other. */
  #turn: Promise<unknown> = Promise.resolve()
  #closed: Promise<void> | undefined
  #hasStarted = false
  /** Aborted when no more workers are started. */
  readonly #stopped = new AbortController()
  admin: AdminAddress | undefined
  readonly appMetrics: WorkerMetrics = new WorkerMetrics()
  readonly #leadership = new Leadership()
  readonly #orphanWatch = new OrphanWatch()

  private constructor(options: ResolvedOptions, listener: Listener) {
    super()
    this.#options = options
    this.#listener = listener
    this.#wanted = options.workers
    this.#recycling = new Recycling(options.recycle)
    this.#canHandOver = listener.fd !== undefined && canHandOver()
    this.#lookIn(LOOK)
  }

  /**
   * Binds the socket, and resolves when all workers take connections.
   *
   * @param observe is given the server before there are any
   */
  static async start(options: ResolvedOptions, observe: (server: Primary) => void): Promise<Primary> {
    const primary = new Primary(options, await bind(options))
    observe(primary)
    try {
      await Promise.all(Array.from({ length: options.workers }, () => primary.#addActive()))
    } catch (error) {
      // It was told to end meanwhile.
      if (primary.#closed) {
        await primary.#closed
        throw new ClusteredServerError('CLUSTERED_SERVER_CLOSED', 'The server was closed while it started', {
          cause: error,
        })
      }
      primary.kill()
      // They have the socket as well: only then can another server have the port.
      await primary.close().catch(ignore)
      throw error
    }
    primary.#hasStarted = true
    primary.#maintain()
    return primary
  }

  get port(): number {
    return this.#listener.port
  }

  get host(): string {
    return this.#listener.host
  }

  get path(): string | undefined {
    return this.#listener.path
  }

  status(): ClusterStatus {
    return {
      ready: this.#hasStarted && !this.#closed && this.#taking().length > 0,
      generation: this.#generation,
      workers: [...this.#workers].map((worker) => {
        worker.look()
        const { id, pid, state, generation, startedAt, figures } = worker
        return { id, pid, state, generation, startedAt, ...figures }
      }),
    }
  }

  /** @throws {ClusteredServerError} `CLUSTERED_SERVER_RELOAD_FAILED`, `CLUSTERED_SERVER_CLOSED` */
  async reload(): Promise<void> {
    this.#mustBeOpen()
    return this.#inTurn(async () => {
      const before = this.#generation
      const generation = ++this.#lastGeneration
      this.#generation = generation
      this.#policy.reset()
      this.#hasGivenUp = false
      this.emit('reload', { generation })
      try {
        // One that takes the place of another meanwhile is of the old version too.
        const oldest = (): WorkerProcess | undefined => this.#called().find((worker) => worker.generation < generation)
        for (let old = oldest(); old; old = oldest()) await this.#replace(old)
      } catch (error) {
        // What starts from now on is of the new version all the same, but it does not count as such.
        this.#generation = before
        this.#mustBeOpen()
        this.#trim()
        this.#maintain()
        const { message } = error as Error
        const text = `The new version does not start, the old one goes on: ${message}`
        const failure = new ClusteredServerError('CLUSTERED_SERVER_RELOAD_FAILED', text, { cause: error })
        this.emit('reloadFailed', { generation, error: failure })
        throw failure
      }
      for (const worker of this.#reserve()) if (worker.generation < generation) this.#retire(worker)
      this.#trim()
      this.#maintain()
      this.emit('reloaded', { generation })
    })
  }

  /** @throws {ClusteredServerError} `CLUSTERED_SERVER_INVALID_OPTION`, `CLUSTERED_SERVER_CLOSED` */
  async scale(workers: number): Promise<void> {
    demandWorkers(workers)
    this.#mustBeOpen()
    return this.#inTurn(async () => {
      this.#wanted = workers
      while (this.#called().length < workers) await this.#addActive()
      this.#trim()
      this.#maintain()
    })
  }

  close(): Promise<void> {
    this.#closed ??= this.#close()
    return this.#closed
  }

  /** Ends all workers at once, whatever they do. */
  kill(): void {
    this.#stop()
    for (const worker of this.#workers) worker.kill()
    this.#closed ??= this.#allEnded()
  }

  async #close(): Promise<void> {
    this.emit('closing')
    const { shutdownDelay } = this.#options
    if (shutdownDelay > 0) await sleep(shutdownDelay, undefined, { signal: this.#stopped.signal }).catch(() => {})
    this.#stop()
    for (const worker of this.#workers) this.#retire(worker, false)
    await this.#allEnded()
  }

  async #allEnded(): Promise<void> {
    await Promise.all([...this.#workers].map(({ ended }) => ended))
    this.#orphanWatch.end()
    this.#figures?.close()
    try {
      await this.#options.onShutdown()
    } finally {
      this.emit('closed')
    }
  }

  /** What is closed in good order may be killed after that, as by a second signal. */
  #stop(): void {
    if (this.#isStopped) return
    this.#stopped.abort()
    clearTimeout(this.#nextLook)
    for (const timer of this.#restarts) clearTimeout(timer)
    // What waits in its queue is refused once the workers have closed theirs.
    this.#listener.close()
    this.#shared.close()
  }

  get #isStopped(): boolean {
    return this.#stopped.signal.aborted
  }

  #mustBeOpen(): void {
    if (this.#closed) throw new ClusteredServerError('CLUSTERED_SERVER_CLOSED', 'The server is closed or is closing')
  }

  #inTurn(work: () => Promise<void>): Promise<void> {
    const before = this.#turn
    const turn = (async () => {
      await before
      // It may have been closed since it was asked for, and what fails then fails for that.
      this.#mustBeOpen()
      try {
        await work()
      } catch (error) {
        this.#mustBeOpen()
        throw error
      }
    })()
    this.#turn = turn.catch(() => {})
    return turn
  }

  /** Workers that take new connections. */
  #taking(): WorkerProcess[] {
    return [...this.#workers].filter(({ state }) => state === 'active')
  }

  /** Workers that take new connections, or will as soon as they can. */
  #called(): WorkerProcess[] {
    return [...this.#workers].filter(({ isCalled, leaves, state }) => isCalled && !leaves && state !== 'ended')
  }

  /** Workers that are loaded, or will be, and wait to be called: first those that can be had at once. */
  #reserve(): WorkerProcess[] {
    const waiting = [...this.#workers].filter(
      ({ isCalled, leaves, state }) => !isCalled && !leaves && state !== 'ended',
    )
    return waiting.toSorted((a, b) => Number(a.state === 'starting') - Number(b.state === 'starting'))
  }

  #spawn(): WorkerProcess {
    const { app, readyPath, drainTimeout, startTimeout, stuckReport, execArgv, env } = this.#options
    const { host, port, path, fd } = this.#listener
    const id = ++this.#lastId
    // For apps that listen by themselves, where they are told to.
    const bound = { PORT: path ?? String(port) }
    const variables: NodeJS.ProcessEnv = { ...process.env, ...bound, ...(typeof env === 'function' ? env() : env) }
    const worker = new WorkerProcess({
      ...{ id, generation: this.#generation, app, host, port, path, fd },
      ...{ readyPath, drainTimeout, startTimeout, stuckReport },
      file: this.#figures,
      env: { ...variables, ...nameIn(id) },
      execArgv: [...execArgv, ...heapArguments(this.#wanted, execArgv, variables['NODE_OPTIONS'])],
    })
    this.#workers.add(worker)
    this.#watchOrphans()
    this.#leadership.add(worker)
    this.appMetrics.add(worker)
    worker.on('connection', (handle, rested) => {
      const receiver = this.#receiver(worker)
      if (receiver) receiver.give(handle, rested)
      else handle.close()
    })
    worker.on('share', async (request, query) => {
      const socket = await this.#shared.share(worker, query)
      if (socket !== undefined) worker.share(request, socket)
    })
    worker.on('unshare', (query) => this.#shared.release(worker, query))
    worker.on('burst', () => void this.#onBurst())
    worker.on('lost', (pid) => this.emit('connectionLost', { pid }))
    worker.once('exit', (exit) => this.#onExit(worker, exit))
    worker.once('active', () => {
      this.#shared.sweep()
      this.emit('workerReady', nameOf(worker))
    })
    this.emit('workerStart', nameOf(worker))
    return worker
  }

  /** Has what is there now end with this process, whatever it does then. */
  #watchOrphans(): void {
    this.#orphanWatch.watch([...this.#workers].flatMap(({ pid }) => pid ?? []))
  }

  /** Resolves with a worker that takes connections from now on: the one in reserve, if it runs what is wanted now. */
  async #addActive(): Promise<void> {
    this.#mustBeOpen()
    const worker = this.#reserve().find(({ generation }) => generation === this.#generation) ?? this.#spawn()
    await worker.listen()
  }

  async #replace(worker: WorkerProcess): Promise<void> {
    await this.#addActive()
    this.#retire(worker)
  }

  #retire(worker: WorkerProcess, handOver = true): void {
    // Where connections cannot go to others, new ones can.
    worker.retire(handOver && this.#taking().some((other) => other !== worker))
    const timer = setTimeout(() => worker.kill(), this.#options.drainTimeout + END_PATIENCE)
    void worker.ended.then(() => clearTimeout(timer))
  }

  /** Who goes on with a connection: of those that speak and run the newest code, the one with the fewest. */
  #receiver(from: WorkerProcess): WorkerProcess | undefined {
    if (!this.#canHandOver || !from.canMove) return undefined
    const able = this.#taking().filter(({ canMove, isConnected }) => canMove && isConnected)
    const others = able.filter((worker) => worker !== from)
    for (const worker of others) worker.look()
    const [best] = others.toSorted(
      (a, b) => Number(a.isSilent) - Number(b.isSilent) || b.generation - a.generation || a.connections - b.connections,
    )
    // Its own it can have back, if it stays.
    return best ?? (able.includes(from) ? from : undefined)
  }

  /** Has as many workers as are wanted, and one in reserve, start with what there is. */
  #maintain(): void {
    if (this.#isStopped) return
    this.#call()
    if (this.#hasGivenUp) return
    while (this.#called().length < this.#wanted) this.#spawn().listen().catch(ignore)
    if (this.#options.spare && this.#reserve().length === 0) this.#spawn()
  }

  /** Has what is in reserve take the place of those that are missing. */
  #call(): void {
    const ready = this.#called().filter(({ state }) => state !== 'starting')
    const missing = Math.max(0, this.#wanted - ready.length)
    const able = this.#reserve().filter(({ state }) => state !== 'starting')
    for (const worker of able.slice(0, missing)) worker.listen().catch(ignore)
  }

  /** Lets those go that are too many, the oldest first: one may have taken the place of another meanwhile. */
  #trim(): void {
    const called = this.#called().toSorted((a, b) => a.generation - b.generation || b.id - a.id)
    for (const worker of called.slice(0, Math.max(0, called.length - this.#wanted))) this.#retire(worker)
  }

  #onExit(worker: WorkerProcess, exit: WorkerExit): void {
    this.#workers.delete(worker)
    this.#shared.releaseAll(worker)
    this.#watchOrphans()
    const { leaves, startedAt, failure } = worker
    this.emit('workerExit', { ...nameOf(worker), expected: leaves, failure, ...exit })
    if (this.#isStopped) return
    // What is in reserve takes its place at once.
    const delay = leaves ? undefined : this.#policy.delayAfter(Date.now() - startedAt)
    if (this.#policy.isLoop) this.#giveUp()
    else if (delay !== undefined) this.#restart(delay)
  }

  #restart(delay: number): void {
    this.#call()
    const timer = setTimeout(() => {
      this.#restarts.delete(timer)
      this.#maintain()
    }, delay)
    this.#restarts.add(timer)
  }

  #giveUp(): void {
    const isNew = !this.#hasGivenUp
    this.#hasGivenUp = true
    // What waits goes on, with what there is.
    this.#call()
    if (isNew) this.emit('crashLoop', { deaths: this.#policy.deaths, workers: this.#called().length })
    if (this.#workers.size === 0) this.kill()
  }

  #lookIn(delay: number): void {
    this.#lookDue = performance.now() + delay
    this.#nextLook = setTimeout(() => this.#look(), delay)
  }

  #look(): void {
    const { heartbeatTimeout } = this.#options
    const now = performance.now()
    // Whoever could not look for a while must not say that nobody was there.
    const wasAway = now > this.#lookDue + LATE
    let isCloser = false
    for (const worker of this.#workers) {
      worker.look()
      if (wasAway || worker.state === 'starting') worker.excuse()
      else if (worker.isStuck(heartbeatTimeout)) void this.#endStuck(worker)
      isCloser ||= worker.isSilent
    }
    this.#recycle()
    if (now >= this.#rebalanceDue) this.#rebalance()
    if (!this.#isStopped)
      this.#lookIn(isCloser ? CLOSER_LOOK : Math.max(CLOSER_LOOK, Math.min(LOOK, heartbeatTimeout / 2)))
  }

  /** Replaces a worker that has reached a limit, one after the other. */
  #recycle(): void {
    const due = this.#hasGivenUp ? undefined : this.#recycling.next(this.#taking())
    if (!due) return
    const { worker, reason } = due
    const replacement = this.#inTurn(async () => {
      // A reload may have come before.
      if (worker.state !== 'active') return
      this.emit('recycle', { ...nameOf(worker), reason })
      try {
        await this.#replace(worker)
      } finally {
        this.#trim()
        this.#maintain()
      }
    })
    void this.#recycling.during(replacement)
  }

  async #endStuck(worker: WorkerProcess): Promise<void> {
    this.emit('workerStuck', nameOf(worker))
    // Its exit comes later than this.
    worker.giveUp()
    const report = await worker.report()
    worker.kill()
    if (report) this.emit('stuckReport', { ...nameOf(worker), ...report })
  }

  /** Workers between which connections can move. */
  #movable(): WorkerProcess[] {
    if (!this.#canHandOver) return []
    return this.#taking().filter(({ canMove, isSilent }) => canMove && !isSilent)
  }

  /** Looks how even connections are as soon as all workers have told how many they have. */
  async #onBurst(): Promise<void> {
    if (this.#isCounting || performance.now() < this.#movingUntil) return
    this.#isCounting = true
    for (const worker of this.#workers) worker.look()
    const told = await Promise.all(this.#movable().map((worker) => worker.tellFigures(COUNT_PATIENCE)))
    this.#isCounting = false
    // A look that was due may have come before.
    if (told.every(Boolean) && performance.now() >= this.#movingUntil) this.#rebalance()
  }

  /** Has workers give away connections that are too many for them. */
  #rebalance(): void {
    const next = performance.now() + REBALANCE
    this.#rebalanceDue = next
    const movable = this.#movable()
    const loads = movable.map(({ connections, figures: { utilization } }) => ({ connections, utilization }))
    for (const [index, count] of surpluses(loads).entries()) {
      if (count === 0) continue
      this.#movingUntil = next
      movable[index]!.shed(count)
    }
  }
}

/** For what is heard of by the end of the process too. */
function ignore(): void {}

/** What says to a worker which one it is. */
function nameIn(id: number): NodeJS.ProcessEnv {
  return { CLUSTERED_SERVER_WORKER: String(id), [PRIMARY]: String(process.pid) }
}

function nameOf({ id, pid, generation }: WorkerProcess): WorkerName {
  return { id, pid, generation }
}

async function bind({ port, host, path }: ResolvedOptions): Promise<Listener> {
  try {
    const passed = canInheritSockets() ? passedSocket() : undefined
    if (passed !== undefined) return takeListener(passed)
    if (path !== undefined) return await bindPath(path)
    return canInheritSockets() ? bindListener(port, host) : await findPort(port, host)
  } catch (error) {
    throw cannotListen(host, path ?? port, error)
  }
}

async function bindPath(path: string): Promise<Listener> {
  if (!canInheritSockets()) return { fd: undefined, port: 0, host: '', path, close: () => {} }
  await removeStale(path)
  return bindUnixListener(path)
}
