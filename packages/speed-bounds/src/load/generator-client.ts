import { type ChildProcess, fork } from 'node:child_process'
import { once } from 'node:events'
import { errorCodes, type SpeedBoundsError } from '../errors.ts'
import type { GeneratorName } from '../options/types.ts'
import { siblingModule } from '../sibling-module.ts'
import { isOnPath } from './find-program.ts'
import type {
  Generator,
  GeneratorCommand,
  GeneratorMessage,
  LoadResult,
  Target,
  TurnResult,
  TurnSession,
  Workload,
} from './generator.ts'

/** Starts the generator's process. It ends by itself when this process goes away. */
export async function openGenerator(name: GeneratorName): Promise<Generator> {
  if (name === 'wrk' && !isOnPath('wrk')) {
    throw new errorCodes.SPEED_BOUNDS_GENERATOR_MISSING(
      "The generator 'wrk' is not on PATH. Install it (apt install wrk, brew install wrk), or use the built-in 'autocannon'.",
    )
  }
  const child = fork(siblingModule('./generator-process', import.meta.url), [name], {
    execArgv: [],
    stdio: ['ignore', 'ignore', 'inherit', 'ipc'],
    detached: true,
  })
  await once(child, 'spawn')
  return new GeneratorClient(name, child)
}

/** Resolves a pending command when one of the generator's messages completes it. */
type OnMessage<T> = (message: GeneratorMessage, resolve: (value: T) => void) => void

class GeneratorClient implements Generator {
  readonly #name: GeneratorName
  readonly #child: ChildProcess
  #workloads = 0

  constructor(name: GeneratorName, child: ChildProcess) {
    this.#name = name
    this.#child = child
  }

  run(
    target: Target,
    signal: AbortSignal,
    lead?: { readonly milliseconds: number; readonly onBegin: () => void },
  ): Promise<LoadResult> {
    const workload = workloadOf(target, { lead: lead?.milliseconds ?? 0, inTurns: false })
    return this.#request<LoadResult>({ id: this.#workloads++, workload }, signal, (message, resolve) => {
      if ('begun' in message) lead?.onBegin()
      else if ('ok' in message && message.ok) resolve(message.ok)
    })
  }

  openSession(target: Target, signal: AbortSignal): TurnSession {
    const id = this.#workloads++
    this.#send({ id, workload: workloadOf(target, { lead: 0, inTurns: true }) })
    return {
      turn: (duration, counts) =>
        this.#request<TurnResult>({ id, turn: { duration, counts } }, signal, (message, resolve) => {
          if ('turn' in message) resolve(message.turn)
        }),
      collect: () =>
        this.#request<LoadResult>({ id, collect: true }, signal, (message, resolve) => {
          if ('collected' in message) resolve(message.collected)
        }),
      finish: () => this.#send({ id, finish: true }),
    }
  }

  async close(): Promise<void> {
    const child = this.#child
    if (child.exitCode !== null || child.signalCode !== null) return
    const exited = once(child, 'exit')
    if (child.connected) child.disconnect()
    await exited
  }

  #send(command: GeneratorCommand): void {
    // The exit event reports a process that is gone.
    if (this.#child.connected) this.#child.send(command, () => {})
  }

  /** Sends a command, and passes all messages about its workload to `onMessage` until that settles. */
  async #request<T>(command: GeneratorCommand, signal: AbortSignal, onMessage: OnMessage<T>): Promise<T> {
    const child = this.#child
    signal.throwIfAborted()
    const { promise, resolve, reject } = Promise.withResolvers<T>()
    const onExit = (): void => reject(this.#lost())
    const onAbort = (): void => reject(signal.reason as Error)
    const listener = (message: GeneratorMessage): void => {
      if (message.id !== command.id) return
      if ('error' in message) reject(this.#failed(message.error))
      else onMessage(message, resolve)
    }
    child.once('exit', onExit)
    signal.addEventListener('abort', onAbort, { once: true })
    child.on('message', listener)
    if (child.connected) this.#send(command)
    else onExit()
    return promise.finally(() => {
      child.off('message', listener)
      child.off('exit', onExit)
      signal.removeEventListener('abort', onAbort)
    })
  }

  #lost(): SpeedBoundsError {
    const { signalCode, exitCode } = this.#child
    return new errorCodes.SPEED_BOUNDS_GENERATOR_FAILED(
      `The generator's process (${this.#name}) ended unexpectedly (${signalCode ?? `code ${exitCode}`}).`,
    )
  }

  #failed(message: string): SpeedBoundsError {
    return new errorCodes.SPEED_BOUNDS_GENERATOR_FAILED(`${this.#name} failed: ${message}`)
  }
}

function workloadOf(
  { origin, testCase: { method, path, headers, body }, status, load }: Target,
  { lead, inTurns }: Pick<Workload, 'lead' | 'inTurns'>,
): Workload {
  return { origin, method, path, headers, body, status, load, lead, inTurns }
}
