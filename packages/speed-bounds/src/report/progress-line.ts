import { clearScreenDown, cursorTo, moveCursor } from 'node:readline'
import type { Progress } from '../options/types.ts'
import { microseconds, seconds } from './format.ts'
import { progressText } from './claim-sentences.ts'
import { cut, widthOf } from './terminal-width.ts'

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
    clear() {
      last = ''
    },
  }
}

/** The last step of a subject, and the number of its steps in this phase. */
interface SubjectState {
  readonly phase: Progress['phase']
  readonly stage: number
  readonly steps: number
  readonly cpu: number | undefined
}

function liveLines(stream: NodeJS.WriteStream): ProgressLine {
  const states = new Map<string, SubjectState>()
  let height = 0
  const erase = (): void => {
    if (height === 0) return
    moveCursor(stream, 0, -height)
    cursorTo(stream, 0)
    clearScreenDown(stream)
    height = 0
  }
  return {
    show(progress) {
      const { phase, stage, subject, cpu } = progress
      const before = states.get(subject)
      const isSame = before?.phase === phase && before.stage === stage
      states.set(subject, { phase, stage, steps: isSame ? before.steps + 1 : 1, cpu: cpu ?? before?.cpu })
      const lines = linesOf(states, progress, stream.columns ?? DEFAULT_COLUMNS)
      erase()
      stream.write(`${lines.join('\n')}\n`)
      height = lines.length
    },
    clear() {
      erase()
      states.clear()
    },
  }
}

/** `> fastify  11.0 µs  stage 1: measuring 3, about 14 s left`, one line per subject. */
function linesOf(states: ReadonlyMap<string, SubjectState>, progress: Progress, columns: number): string[] {
  const rows = [...states].map(([name, state]) => ({
    name,
    ...state,
    cost: state.cpu === undefined ? '' : microseconds(state.cpu),
  }))
  const [nameWidth, costWidth] = (['name', 'cost'] as const).map((key) =>
    Math.max(...rows.map((row) => widthOf(row[key]))),
  )
  return rows.map(({ name, phase, stage, steps, cost }) => {
    const isActive = name === progress.subject
    const left = isActive ? `, about ${seconds(progress.remaining)} left` : ''
    const padded = name + ' '.repeat(nameWidth! - widthOf(name))
    const figure = costWidth === 0 ? '' : `${cost.padStart(costWidth!)}  `
    // The last column stays empty, because some terminals wrap a line that fills it.
    return cut(`${isActive ? '>' : ' '} ${padded}  ${figure}stage ${stage}: ${phase} ${steps}${left}`, columns - 1)
  })
}
