// What a stuck event loop leaves behind. Nobody hears of it by the loop itself: a thread of the worker waits for the word
// of the primary, on a pipe of its own, and looks at the loop by the inspector.

import { once } from 'node:events'
import type { Duplex } from 'node:stream'
import { Worker } from 'node:worker_threads'

/** What is looked at: where the loop stands, or what it does for a while. */
export type StuckReportKind = 'stack' | 'profile'

/** What a stuck event loop has left behind. */
export interface StuckReport {
  /** The file, if one could be written. */
  readonly file: string | undefined
  /** The function that the loop stands in, and its place. */
  readonly at: string | undefined
  /** Why there is no file. */
  readonly failure: string | undefined
}

/** What is to be written, and where. */
export interface ReportSetup {
  readonly kind: StuckReportKind
  readonly directory: string
}

/** What the thread is told. */
export interface ReporterData extends ReportSetup {
  /** The id of the worker. */
  readonly worker: string
  /** The descriptor of the pipe. */
  readonly fd: number
}

/** Milliseconds that are looked at for a profile. */
export const PROFILE_TIME = 500
/** Milliseconds that all else may take: a loop that is outside of JavaScript does not answer. */
const PATIENCE = 2000

/**
 * Starts the thread. Its memory is 8 to 11 MB; until it is told something it does nothing.
 *
 * @param entry the module that it runs
 */
export function startReporter(entry: URL, data: ReporterData): void {
  // Nothing of what the app has preloaded is needed there.
  const limits = { maxYoungGenerationSizeMb: 1, maxOldGenerationSizeMb: 64, stackSizeMb: 1 }
  const thread = new Worker(entry, { execArgv: [], env: {}, resourceLimits: limits, workerData: data })
  thread.unref()
  // The primary hears of it by the end of the pipe.
  thread.on('error', () => {})
}

/** Has the thread at the other end of a pipe report, and resolves in any case, in time. */
export async function askForReport(pipe: Duplex, kind: StuckReportKind): Promise<StuckReport> {
  const patience = PATIENCE + (kind === 'profile' ? PROFILE_TIME : 0)
  const signal = AbortSignal.timeout(patience)
  const ended = new AbortController()
  pipe.once('end', () => ended.abort())
  try {
    if (pipe.readableEnded || pipe.destroyed) ended.abort()
    pipe.write('\n')
    const [answer] = (await once(pipe, 'data', { signal: AbortSignal.any([signal, ended.signal]) })) as [Buffer]
    return { file: undefined, at: undefined, failure: undefined, ...(JSON.parse(String(answer)) as object) }
  } catch {
    const late = `it said nothing for ${patience} ms: it is stopped, or outside of JavaScript`
    const failure = signal.aborted ? late : 'its thread that would tell has ended'
    return { file: undefined, at: undefined, failure }
  }
}
