import { type ChildProcess, fork, type ForkOptions } from 'node:child_process'
import { EventEmitter } from 'node:events'
import { extname } from 'node:path'
import type { Duplex } from 'node:stream'
import { fileURLToPath } from 'node:url'
import { decode, encode, type ToPrimary, type ToWorker } from '../ipc/messages.ts'
import { forkInCluster } from '../platform/node-cluster.ts'
import { onHandleLost, type RawHandle } from '../platform/node-internals.ts'
import type { WorkerExit } from '../types.ts'

interface ChannelEvents {
  message: [message: ToPrimary, handle: RawHandle | undefined]
  /** A connection could not be delivered; another worker has to take it. */
  returned: [handle: RawHandle, idleMs: number]
  /** A process had no descriptor for a connection: this process or the worker. */
  lost: [pid: number | undefined]
  /** Process error, such as a failed start. */
  failed: [message: string]
  exit: [WorkerExit]
}

/** Arguments of the process, and the descriptors that it inherits. */
export interface ProcessSetup {
  readonly execArgv: readonly string[]
  /** Arguments for the app. */
  readonly args: readonly string[]
  readonly env: NodeJS.ProcessEnv
  /** The listening socket in this process. */
  readonly fd: number | undefined
  /** The file of shared statistics in this process. */
  readonly statsFd: number | undefined
  /** Whether the worker gets a pipe for reports about blocked event loops. */
  readonly hasReportPipe: boolean
}

const ENTRY = new URL(`../worker/entry${extname(import.meta.filename)}`, import.meta.url)
/** Descriptors in the worker; the first four are stdin, stdout, stderr and the channel. */
export const LISTENER_FD = 4
export const STATS_FD = 5
export const REPORT_FD = 6

/** Whether this process is a worker. */
export function isWorker(): boolean {
  return process.argv[1] === fileURLToPath(ENTRY)
}

/** The process of a worker and the channel to it. */
export class WorkerChannel extends EventEmitter<ChannelEvents> {
  readonly #child: ChildProcess
  /** Connections that are on their way to the worker, and for how long each was idle. */
  readonly #undelivered = new Map<RawHandle, number>()
  #hasEnded = false

  constructor(setup: ProcessSetup) {
    super()
    this.#child = start(setup)
    // A worker that is killed resets the pipe.
    this.reportPipe?.on('error', () => {})
    // Before connections are returned: this worker must not be offered its own.
    this.#child.once('exit', (code, signal) => this.#end({ code, signal }))
    this.#child.on('message', (sent, handle) => {
      const message = decode(sent) as ToPrimary | undefined
      if (message) this.emit('message', message, handle as unknown as RawHandle | undefined)
    })
    onHandleLost(this.#child, (isHere) => this.emit('lost', isHere ? process.pid : this.pid))
    // Node reports neither the failure of messages that still wait to be sent, nor the end of the channel before that.
    for (const event of ['disconnect', 'exit'] as const) this.#child.once(event, () => this.#returnUndelivered())
    this.#child.on('error', ({ message }) => {
      this.emit('failed', message)
      // A process that could not be started emits no exit.
      if (this.#child.pid === undefined) this.#end({ code: null, signal: null })
    })
  }

  get pid(): number | undefined {
    return this.#child.pid
  }

  get isConnected(): boolean {
    return this.#child.connected
  }

  get reportPipe(): Duplex | undefined {
    // A process that could not be started, for want of descriptors, has no `stdio`.
    const stdio = this.#child.stdio as readonly unknown[] | undefined
    return stdio?.[REPORT_FD] as Duplex | undefined
  }

  send(message: ToWorker, handle?: RawHandle): void {
    // A worker that ends right now shows by its exit.
    if (this.#child.connected) this.#child.send(encode(message), handle as never, {}, () => {})
  }

  /** Sends a connection, which comes back as the event `returned` if it cannot be delivered. */
  handOver(handle: RawHandle, idleMs: number): void {
    this.#undelivered.set(handle, idleMs)
    this.#child.send(encode({ type: 'connection', idleMs }), handle as never, {}, (error) => {
      if (!this.#undelivered.delete(handle)) return
      if (error) this.emit('returned', handle, idleMs)
      else handle.close()
    })
  }

  kill(): void {
    this.#child.kill('SIGKILL')
  }

  /** Reassigns connections that this worker never received. */
  #returnUndelivered(): void {
    const undelivered = [...this.#undelivered]
    this.#undelivered.clear()
    for (const [handle, idleMs] of undelivered) this.emit('returned', handle, idleMs)
  }

  #end(exit: WorkerExit): void {
    if (this.#hasEnded) return
    this.#hasEnded = true
    this.emit('exit', exit)
  }
}

function start({ execArgv, args, env, fd, statsFd, hasReportPipe }: ProcessSetup): ChildProcess {
  const options: ForkOptions = {
    execArgv: [...execArgv],
    env,
    stdio: [
      ...(['ignore', 'inherit', 'inherit', 'ipc'] as const),
      ...[fd ?? 'ignore', statsFd ?? 'ignore', ...(hasReportPipe ? (['pipe'] as const) : [])],
    ] as NonNullable<ForkOptions['stdio']>,
    serialization: 'json',
  }
  return fd === undefined ? forkInCluster(ENTRY, args, options) : fork(ENTRY, args, options)
}
