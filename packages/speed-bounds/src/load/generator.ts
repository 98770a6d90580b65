import { fork } from 'node:child_process'
import { once } from 'node:events'
import { accessSync, constants } from 'node:fs'
import { delimiter, join } from 'node:path'
import { SpeedBoundsError } from '../errors.ts'
import type { GeneratorName, ResolvedCase, ResolvedLoad } from '../options/resolve.ts'
import { besideThis } from '../sibling-module.ts'

/** One order to a generator: one case at one subject for one round. */
export interface Volley {
  readonly origin: string
  readonly method: string
  readonly path: string
  readonly headers: Readonly<Record<string, string>>
  readonly body: string | undefined
  /** The status that counts as an answer; every other is a failure. */
  readonly status: number
  readonly load: ResolvedLoad
  /** Milliseconds of load before the round begins: of what comes by then, only failures count. */
  readonly lead: number
  /** Fires only when it is told to, until it is told that it was the last time; `lead` and the load's duration are of no account then. */
  readonly inTurns: boolean
}

/** What came of it. */
export interface VolleyResult {
  /** Answers with the right status. */
  readonly answers: number
  /** What was there before the round began: its failures are among those below. */
  readonly before: { readonly answers: number; readonly failures: number }
  /** Milliseconds from the begin of the round, or the first request, to the last answer. */
  readonly elapsed: number
  /** Latency in milliseconds. */
  readonly latency: { readonly p50: number; readonly p90: number; readonly p99: number }
  /** Requests that failed, by kind. */
  readonly failures: {
    readonly errors: number
    readonly timeouts: number
    /** Connections that got no answer while the others got many. */
    readonly hanging: number
    readonly unexpectedStatus: number
  }
  /** Share of the time in which the generator's busiest thread had work. */
  readonly utilisation: number
  /** CPU time of the generator in milliseconds. */
  readonly cpu: number
}

/** What came of a turn. */
export interface TurnResult {
  /** Whether every request had its answer, or its connection ended. */
  readonly isAnswered: boolean
  /** Milliseconds until the last answer. */
  readonly elapsed: number
}

/** How a volley is fired in turns. */
export interface Turns {
  /** Fires for so many milliseconds, and then waits for a while until all is answered. Only what counts is in the volley's result. */
  turn(duration: number, counts: boolean): Promise<TurnResult>
  finish(): void
}

/** The whole of what a generator has to do, in a process of its own; it tells when a round with a lead begins. */
export type Generate = (
  volley: Volley,
  tell: { readonly onBegin: () => void; readonly onReady: (turns: Turns) => void },
) => Promise<VolleyResult>

/** What a generator's process is told, of the volley with that number. */
export type ToGenerator = { readonly id: number } & (
  | { readonly volley: Volley }
  | { readonly turn: { readonly duration: number; readonly counts: boolean } }
  | { readonly finish: true }
)

/** What it says. */
export type FromGenerator = { readonly id: number } & (
  | { readonly begun: true }
  | { readonly turn: TurnResult }
  | { readonly ok: VolleyResult }
  | { readonly error: string }
)

/** A volley that is fired in turns: all but one can be silent. */
export interface Session extends Pick<Turns, 'turn'> {
  finish(): Promise<VolleyResult>
}

export interface Generator {
  /** Rejects with the signal's reason when that aborts; the generator must be closed then. */
  fire(
    origin: string,
    kase: ResolvedCase,
    status: number,
    load: ResolvedLoad,
    signal: AbortSignal,
    lead?: { readonly milliseconds: number; readonly onBegin: () => void },
  ): Promise<VolleyResult>
  /** The same, in turns. */
  open(origin: string, kase: ResolvedCase, status: number, load: ResolvedLoad, signal: AbortSignal): Session
  close(): Promise<void>
}

/** Starts the generator's process; it ends by itself when this process goes away. */
export async function openGenerator(name: GeneratorName): Promise<Generator> {
  if (name === 'wrk' && !isOnPath('wrk')) {
    throw new SpeedBoundsError(
      'SPEED_BOUNDS_GENERATOR_MISSING',
      "The generator 'wrk' was asked for, but there is no wrk on PATH. Install it (apt install wrk, brew install wrk) or use 'autocannon', which is built in.",
    )
  }
  const child = fork(besideThis('./generator-process', import.meta.url), [name], {
    execArgv: [],
    stdio: ['ignore', 'ignore', 'inherit', 'ipc'],
    detached: true,
  })
  await once(child, 'spawn')
  const lost = (): SpeedBoundsError =>
    new SpeedBoundsError(
      'SPEED_BOUNDS_GENERATOR_FAILED',
      `The generator's process (${name}) ended unasked (${child.signalCode ?? `code ${child.exitCode}`}).`,
    )
  let volleys = 0
  const send = (order: ToGenerator): void => {
    // A process that is gone is told of by its exit.
    if (child.connected) child.send(order, () => {})
  }
  /** Sends an order, and settles with what the process says of its volley; whatever else it says on the way is handed on. */
  const ask = <T>(
    order: ToGenerator,
    signal: AbortSignal,
    hear: (message: FromGenerator, resolve: (value: T) => void) => void,
  ): Promise<T> =>
    new Promise((resolve, reject) => {
      signal.throwIfAborted()
      const settle = (): void => {
        child.off('message', onMessage)
        child.off('exit', onExit)
        signal.removeEventListener('abort', onAbort)
      }
      const onExit = (): void => {
        settle()
        reject(lost())
      }
      const onAbort = (): void => {
        settle()
        reject(signal.reason as Error)
      }
      const onMessage = (message: FromGenerator): void => {
        if (message.id !== order.id) return
        if ('error' in message) {
          settle()
          reject(new SpeedBoundsError('SPEED_BOUNDS_GENERATOR_FAILED', `${name} failed: ${message.error}`))
        } else {
          hear(message, (value) => {
            settle()
            resolve(value)
          })
        }
      }
      child.once('exit', onExit)
      signal.addEventListener('abort', onAbort, { once: true })
      child.on('message', onMessage)
      if (child.connected) send(order)
      else onExit()
    })
  return {
    fire(origin, { method, path, headers, body }, status, load, signal, lead) {
      const volley: Volley = {
        ...{ origin, method, path, headers, body, status, load },
        lead: lead?.milliseconds ?? 0,
        inTurns: false,
      }
      return ask<VolleyResult>({ id: volleys++, volley }, signal, (message, resolve) => {
        if ('begun' in message) lead?.onBegin()
        else if ('ok' in message) resolve(message.ok)
      })
    },
    open(origin, { method, path, headers, body }, status, load, signal) {
      const id = volleys++
      send({ id, volley: { origin, method, path, headers, body, status, load, lead: 0, inTurns: true } })
      return {
        turn: (duration, counts) =>
          ask<TurnResult>(
            { id, turn: { duration, counts } },
            signal,
            (message, resolve) => 'turn' in message && resolve(message.turn),
          ),
        finish: () =>
          ask<VolleyResult>({ id, finish: true }, signal, (message, resolve) => 'ok' in message && resolve(message.ok)),
      }
    },
    async close() {
      if (child.exitCode !== null || child.signalCode !== null) return
      const exited = once(child, 'exit')
      if (child.connected) child.disconnect()
      await exited
    },
  }
}

export function isOnPath(program: string): boolean {
  return (process.env['PATH'] ?? '').split(delimiter).some((directory) => {
    try {
      accessSync(join(directory, program), constants.X_OK)
      return true
    } catch {
      return false
    }
  })
}
