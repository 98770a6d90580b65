// A blocked event loop cannot report on itself: a thread of the worker waits for the primary's request, on a pipe of its
// own, and examines the loop by the inspector.

import { Worker } from 'node:worker_threads'
import type { ReportSetup } from '../options/types.ts'

/** Setup of the thread. */
export interface ReporterData extends ReportSetup {
  /** Id of the worker. */
  readonly worker: string
  /** Descriptor of the pipe. */
  readonly fd: number
}

/**
 * Starts the thread, which idles until it is requested to report. See docs/measurements.md#watch-processes
 *
 * @param entry module that the thread runs
 */
export function startReporter(entry: URL, data: ReporterData): void {
  // Without preloaded modules of the app: the thread needs none.
  const limits = { maxYoungGenerationSizeMb: 1, maxOldGenerationSizeMb: 64, stackSizeMb: 1 }
  const thread = new Worker(entry, { execArgv: [], env: {}, resourceLimits: limits, workerData: data })
  thread.unref()
  // The primary notices by the end of the pipe.
  thread.on('error', () => {})
}
