import { createLogUpdate } from 'log-update'
import type { Progress } from '../options/types.ts'
import { seconds } from './format.ts'
import { progressText } from './claim-sentences.ts'

/**
 * Shows progress as one line per subject that changes. Without a terminal, or in CI, it writes one line per phase.
 */
export interface ProgressLine {
  show: (progress: Progress) => void
  /** Removes the lines, so that other output can follow. */
  clear: () => void
}

/** Columns of a terminal that does not tell them. */
const DEFAULT_COLUMNS = 80

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
  if (stream.isTTY && !process.env['CI']) return liveLines(stream)
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

/** The last step of a subject, and the number of its steps in this phase. */
interface SubjectState {
  phase: Progress['phase']
  stage: number
  steps: number
}

function liveLines(stream: NodeJS.WriteStream): ProgressLine {
  const update = createLogUpdate(stream)
  const states = new Map<string, SubjectState>()
  return {
    show(progress) {
      const { phase, stage, subject } = progress
      const before = states.get(subject)
      const isSame = before?.phase === phase && before.stage === stage
      states.set(subject, { phase, stage, steps: isSame ? before.steps + 1 : 1 })
      update(linesOf(states, progress, stream.columns ?? DEFAULT_COLUMNS).join('\n'))
    },
    clear() {
      update.clear()
      states.clear()
    },
  }
}

/** `> fastify  stage 1: measuring 3, about 14 s left`, one line per subject. */
function linesOf(states: ReadonlyMap<string, SubjectState>, progress: Progress, columns: number): string[] {
  const width = Math.max(...[...states.keys()].map((name) => name.length))
  return [...states].map(([name, { phase, stage, steps }]) => {
    const isActive = name === progress.subject
    const left = isActive ? `, about ${seconds(progress.remaining)} left` : ''
    const text = `${isActive ? '>' : ' '} ${name.padEnd(width)}  stage ${stage}: ${phase} ${steps}${left}`
    // The last column stays empty, because some terminals wrap a line that fills it.
    return text.length < columns ? text : `${text.slice(0, Math.max(0, columns - 2))}…`
  })
}
