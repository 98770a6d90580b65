import { fork } from 'node:child_process'
import { once } from 'node:events'
import { accessSync, constants } from 'node:fs'
import { delimiter, join } from 'node:path'
import { SpeedBoundsError } from './errors.ts'
import type { GeneratorName, ResolvedCase, ResolvedLoad } from './options.ts'
import { besideThis } from './own-process.ts'

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

/** The whole of what a generator has to do, in a process of its own; it tells when a round with a lead begins. */
export type Generate = (volley: Volley, onBegin: () => void) => Promise<VolleyResult>

/** What a generator's process says. */
export type FromGenerator = { readonly begun: true } | { readonly ok: VolleyResult } | { readonly error: string }

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
  return {
    fire(origin, { method, path, headers, body }, status, load, signal, lead) {
      const volley: Volley = { origin, method, path, headers, body, status, load, lead: lead?.milliseconds ?? 0 }
      return new Promise((resolve, reject) => {
        signal.throwIfAborted()
        const onExit = (): void => reject(lost())
        const onAbort = (): void => reject(signal.reason as Error)
        child.once('exit', onExit)
        signal.addEventListener('abort', onAbort, { once: true })
        child.on('message', function onMessage(message: FromGenerator) {
          if ('begun' in message) return lead?.onBegin()
          child.off('message', onMessage)
          child.off('exit', onExit)
          signal.removeEventListener('abort', onAbort)
          if ('ok' in message) resolve(message.ok)
          else reject(new SpeedBoundsError('SPEED_BOUNDS_GENERATOR_FAILED', `${name} failed: ${message.error}`))
        })
        if (!child.connected) return onExit()
        child.send(volley, (error) => error && onExit())
      })
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
