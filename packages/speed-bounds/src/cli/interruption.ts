import { line } from './output.ts'

/** The reason of work that Ctrl-C or SIGTERM ended. */
export class Interruption extends Error {
  override readonly name = 'Interruption'
}

const running = new Set<AbortController>()

/**
 * Runs work that ends in its own time on Ctrl-C or SIGTERM. A second signal ends this process immediately; its helper
 * processes still clean up.
 */
export async function interruptible<T>(work: (signal: AbortSignal) => Promise<T>): Promise<T> {
  const controller = new AbortController()
  running.add(controller)
  try {
    return await work(controller.signal)
  } finally {
    running.delete(controller)
  }
}

/** Installs the handlers. Without interruptible work, a signal ends the process with this code. */
export function handleInterrupts(exitCode: number): void {
  for (const name of ['SIGINT', 'SIGTERM'] as const) {
    process.on(name, () => {
      line.clear()
      // The supervisor ends the subjects when this process is gone.
      if (running.size === 0) process.exit(exitCode)
      for (const controller of running) controller.abort(new Interruption(name))
      running.clear()
    })
  }
}
