import { chmodSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'

/** Writes a Node that runs the script, its last argument, without the options that load the profiler. */
export function bareNode(folder: string): string {
  const path = join(folder, 'node')
  writeFileSync(path, `#!/bin/sh\nfor last; do :; done\nexec ${process.execPath} "$last"\n`)
  chmodSync(path, 0o755)
  return path
}
