import { type ChildProcess, fork, type ForkOptions } from 'node:child_process'
import { EventEmitter } from 'node:events'
import { existsSync } from 'node:fs'
import { constants } from 'node:os'
import type { Duplex } from 'node:stream'
import { decode, encode, type ToPrimary, type ToWorker } from '../ipc/messages.ts'
import { forkInCluster } from '../platform/windows-port.ts'
import { type RawHandle, watchHandles } from '../platform/node-internals.ts'
import type { WorkerExit } from '../server-types.ts'
import type { MovingConnection } from './moving-connection.ts'
import { ownOutputs } from './shared-output.ts'

interface ChannelEvents {
  message: [message: ToPrimary, handle: RawHandle | undefined]
  /** A connection could not be delivered; another worker has to take it. */
  returned: [MovingConnection]
  /** The worker has no free descriptor for a connection; another worker has to take it. */
  refused: [MovingConnection]
  /** This process had no free descriptor for a connection of the worker. */
  lost: []
  /** Process error, such as a failed start. */
  failed: [message: string]
  exit: [WorkerExit]
}

/** Module, directory and arguments of the process, and the descriptors that it inherits. */
export interface ProcessSetup {
  /** Module that the process runs. */
  readonly entry: URL
  readonly cwd: string
  readonly execArgv: readonly string[]
  /** Arguments for the app. */
  readonly args: readonly string[]
  readonly env: NodeJS.ProcessEnv
  /** Prefix for each line of the worker's output. Without it, the worker writes to the output of this process directly. */
  readonly outputPrefix: string | undefined
  /** The listening socket in this process. */
  readonly fd: number | undefined
  /** The file of shared statistics in this process. */
  readonly statsFd: number | undefined
  /** Whether the worker gets a pipe for reports about blocked event loops. */
  readonly hasReportPipe: boolean
}

/** A handle that the worker has not confirmed yet. */
interface SentHandle {
  /** Whether it is in the channel, so that the worker may have it. */
  isWritten: boolean
  readonly onReceived?: () => void
  /** The worker has no free descriptor. */
  readonly onRefused: () => void
  /** The worker ends, and has not received it. */
  readonly onReturned?: () => void
}

/** Descriptors in the worker; the first four are stdin, stdout, stderr and the channel. */
export const LISTENER_FD = 4
export const STATS_FD = 5
export const REPORT_FD = 6

/** Time for the rest of a worker's output after its exit, in milliseconds. */
const OUTPUT_TIMEOUT = 500

/** The process of a worker and the channel to it. */
export class WorkerChannel extends EventEmitter<ChannelEvents> {
  /** Resolves when all output with a prefix has been written. */
  readonly outputWritten: Promise<unknown>
  readonly #child: ChildProcess
  /** In the order in which they were sent. */
  readonly #sent: SentHandle[] = []
  #hasEnded = false

  constructor(setup: ProcessSetup) {
    super()
    this.#child = start(setup)
    this.outputWritten = this.#copyOutput(setup.outputPrefix)
    // A worker that is killed resets the pipe.
    this.reportPipe?.on('error', () => {})
    // Before connections are returned: this worker must not be offered its own.
    this.#child.once('exit', (code, signal) => this.#end({ code, signal }))
    this.#child.on('message', (sent, handle) => {
      const message = decode(sent) as ToPrimary | undefined
      if (message) this.emit('message', message, handle as unknown as RawHandle | undefined)
    })
    watchHandles(
      this.#child,
      (isReceived) => this.#onSent(isReceived),
      () => this.emit('lost'),
    )
    // Node reports neither the failure of messages that still wait to be sent, nor the end of the channel before that.
    for (const event of ['disconnect', 'exit'] as const) this.#child.once(event, () => this.#returnSent())
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

  send(message: ToWorker): void {
    // A worker that ends right now shows by its exit.
    if (this.#child.connected) this.#child.send(encode(message), undefined, {}, () => {})
  }

  /** Sends a shared socket. */
  share(request: number, handle: RawHandle): void {
    this.#sendHandle({ type: 'shared', request }, handle, {
      onRefused: () => this.send({ type: 'shared', request, error: -constants.errno.EMFILE }),
    })
  }

  /** Sends a connection, which stays open here until the worker has it, and comes back as an event if it does not. */
  handOver(connection: MovingConnection): void {
    const { handle, idleMs } = connection
    this.#sendHandle({ type: 'connection', idleMs }, handle, {
      onReceived: () => handle.close(),
      onRefused: () => this.emit('refused', connection),
      onReturned: () => this.emit('returned', connection),
    })
  }

  kill(): void {
    this.#child.kill('SIGKILL')
  }

  /** @returns a promise of the end of the output, or of 500 ms after the exit: a child of the worker may keep it open */
  #copyOutput(prefix: string | undefined): Promise<unknown> {
    const { stdout, stderr } = this.#child
    if (prefix === undefined || !stdout || !stderr) return Promise.resolve()
    const { stdout: ownStdout, stderr: ownStderr } = ownOutputs()
    const late = new Promise((resolve) => this.#child.once('exit', () => setTimeout(resolve, OUTPUT_TIMEOUT).unref()))
    return Promise.race([late, Promise.all([ownStdout.copy(stdout, prefix), ownStderr.copy(stderr, prefix)])])
  }

  #sendHandle(message: ToWorker, handle: RawHandle, receipt: Omit<SentHandle, 'isWritten'>): void {
    const sent = { ...receipt, isWritten: false }
    this.#sent.push(sent)
    this.#child.send(encode(message), handle as never, {}, (error) => {
      sent.isWritten = !error
      const index = this.#sent.indexOf(sent)
      if (!error || index < 0) return
      this.#sent.splice(index, 1)
      sent.onReturned?.()
    })
  }

  #onSent(isReceived: boolean): void {
    const sent = this.#sent.shift()
    if (isReceived) sent?.onReceived?.()
    else sent?.onRefused()
  }

  /** Node sends one handle at a time. The worker may have read from that one, so it goes to no other worker. */
  #returnSent(): void {
    for (const { isWritten, onReceived, onReturned } of this.#sent.splice(0)) {
      if (isWritten) onReceived?.()
      else onReturned?.()
    }
  }

  #end(exit: WorkerExit): void {
    if (this.#hasEnded) return
    this.#hasEnded = true
    this.emit('exit', exit)
  }
}

function start(setup: ProcessSetup): ChildProcess {
  const { entry, cwd, execArgv, args, env, outputPrefix, fd, statsFd, hasReportPipe } = setup
  const output = outputPrefix === undefined ? 'inherit' : 'pipe'
  const options: ForkOptions = {
    execPath: nodePath(),
    cwd,
    execArgv: [...execArgv],
    env,
    stdio: [
      ...(['ignore', output, output, 'ipc'] as const),
      ...[fd ?? 'ignore', statsFd ?? 'ignore', ...(hasReportPipe ? (['pipe'] as const) : [])],
    ] as NonNullable<ForkOptions['stdio']>,
    serialization: 'json',
  }
  return fd === undefined ? forkInCluster(entry, args, options) : fork(entry, args, options)
}

/** Path of Node. The file may be deleted while this process runs, with the release that it belongs to. */
function nodePath(): string {
  const isGone = process.platform === 'linux' && !existsSync(process.execPath)
  return isGone ? `/proc/${process.pid}/exe` : process.execPath
}
