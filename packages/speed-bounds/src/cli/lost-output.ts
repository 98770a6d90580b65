import { EXIT } from './exit-codes.ts'

/** Keeps the process alive when its output cannot be written. If the reader has gone, as with `| head`, that is no error. */
export function outliveOutputs(): void {
  for (const stream of [process.stdout, process.stderr]) {
    stream.on('error', ({ code, message }: NodeJS.ErrnoException) => {
      if (code === 'EPIPE') return
      process.exitCode = EXIT.failed
      if (stream === process.stdout) process.stderr.write(`cannot write to stdout: ${message}\n`)
    })
  }
}
