import { EXIT } from './exit-codes.ts'

/** Writes the result of a command to stdout. */
export function print(text: string): void {
  process.stdout.write(text, (error) => {
    // A reader such as `head` may close the pipe early.
    if (!error || (error as NodeJS.ErrnoException).code === 'EPIPE') return
    process.stderr.write(`clustered-server: cannot write to stdout: ${error.message}\n`)
    process.exitCode = EXIT.failed
  })
}
