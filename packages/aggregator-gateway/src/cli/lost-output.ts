/** Keeps the gateway alive when its output cannot be written: the reader of the pipe has gone, or the disk is full. */
export function outliveOutputs(): void {
  for (const stream of [process.stdout, process.stderr]) stream.on('error', () => {})
}
