// Output may fail: the reader of the pipe has ended, the disk is full, or the terminal is closed. Node emits `error` on
// process.stdout or process.stderr then, which ends a process without a listener.

import { fstatSync } from 'node:fs'

function ignore(): void {}

/** Keeps this process alive when its output cannot be written. That output is lost. */
export function outliveOutputs(): void {
  for (const stream of [process.stdout, process.stderr]) {
    if (stream.listeners('error').includes(ignore)) continue
    stream.on('error', ignore)
    // pino writes to the descriptor and throws on errors other than a lost reader. With a replaced `write` it writes to
    // the stream instead.
    if (!isPipe(stream.fd)) stream.write = stream.write.bind(stream)
  }
}

function isPipe(fd: number): boolean {
  try {
    const stats = fstatSync(fd)
    return stats.isFIFO() || stats.isSocket()
  } catch {
    return false
  }
}
