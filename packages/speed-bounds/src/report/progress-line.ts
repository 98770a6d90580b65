import { createLogUpdate } from 'log-update'
import type { Progress } from '../options/types.ts'
import { progressText } from './messages.ts'

/** Shows progress as one line that changes. Without a terminal, it writes one line per phase. */
export interface ProgressLine {
  show: (progress: Progress) => void
  /** Removes the line, so that other output can follow. */
  clear: () => void
}

/**
 * Makes a listener for `onProgress`.
 *
 * @param stream - output stream. @default process.stderr
 *
 * @example
 * const line = progressLine()
 * await race({ a: './a.ts', b: './b.ts' }, { path: '/', onProgress: line.show }).measure()
 * line.clear()
 */
export function progressLine(stream: NodeJS.WriteStream = process.stderr): ProgressLine {
  if (stream.isTTY) {
    const update = createLogUpdate(stream)
    return { show: (progress) => update(progressText(progress)), clear: () => update.clear() }
  }
  let last = ''
  return {
    show(progress) {
      const phase = `${progress.stage} ${progress.phase}`
      if (phase !== last) stream.write(`${progressText(progress)}\n`)
      last = phase
    },
    clear() {},
  }
}
