// Where a process writes may be gone: the reader of the pipe has ended, the disk is full, the terminal is closed. Node
// emits that as `error` of process.stdout or process.stderr, which ends a process that has no listener for it.

import { fstatSync } from 'node:fs'

function ignore(): void {}

/** Keeps this process alive when its output cannot be written. What it writes meanwhile is lost. */
export function outliveOutputs(): void {
  for (const stream of [process.stdout, process.stderr]) {
    if (stream.listeners('error').includes(ignore)) continue
    stream.on('error', ignore)
    // pino writes to the descriptor, and throws there unless the reader of a pipe has gone. It writes to the stream when
    // `write` is not that of its class.
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
