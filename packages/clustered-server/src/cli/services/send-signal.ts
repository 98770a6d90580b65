/**
 * Sends a signal to a primary.
 *
 * @throws Error in one line
 */
export function signal(pid: number, name: NodeJS.Signals): void {
  try {
    process.kill(pid, name)
  } catch (error) {
    throw new Error(`cannot signal process ${pid}: ${(error as NodeJS.ErrnoException).code}`, { cause: error })
  }
}
