import { createLogUpdate } from 'log-update'
import { progressText } from './format.ts'

/** What a race is doing, sent to `onProgress`. Times are in milliseconds. */
export interface Progress {
  phase: 'starting' | 'comparing' | 'warming' | 'measuring'
  /** Which subject is at work. */
  subject: string
  /** Stage of the race: each starts fresh processes. The first is 1. */
  stage: number
  /** Steps of this phase that are done, and how many there are. */
  done: number
  total: number
  /** Time since the stage began. */
  elapsed: number
  /** Time that this stage still needs, as far as can be told. */
  remaining: number
}

/** Shows progress as one line that changes; where no terminal is, as a line per phase. */
export interface ProgressLine {
  show: (progress: Progress) => void
  /** Takes the line away, so that something else can be printed. */
  clear: () => void
}

/**
 * Makes a listener for `onProgress`.
 *
 * @param stream - where to write. @default process.stderr
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
