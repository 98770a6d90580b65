// Process 1 of a container adopts orphaned processes. Node reaps only processes that it has started, so that the others stay
// in the kernel's process table as zombies.

import { readFileSync } from 'node:fs'
import type { ClusteredServer } from '../server-types.ts'
import { stateOf } from '../platform/proc-stat.ts'
import type { Logger } from '../options/types.ts'

/** Milliseconds between two polls. */
const POLL_MS = 5000

/** Warns about zombies if this is process 1, and again each time that their number has doubled. */
export function warnOfZombies(server: ClusteredServer, logger: Logger): void {
  if (process.pid !== 1) return
  let before = new Set<number>()
  let reported = 0
  const timer = setInterval(() => {
    const now = new Set(zombies())
    // Only those of two polls: a child of this process may be reaped in a moment.
    const { size } = now.intersection(before)
    before = now
    if (size === 0 || size < reported * 2) return
    reported = size
    const text = `${size} zombie processes, because this is process 1 of its container and Node does not reap orphans: use an init process, such as docker run --init`
    logger.warn({ zombies: size }, text)
  }, POLL_MS).unref()
  server.once('closed', () => clearInterval(timer))
}

/** Process ids of unreaped children of this process, on Linux. */
function zombies(): number[] {
  try {
    const children = readFileSync(`/proc/self/task/${process.pid}/children`, 'utf8').split(' ').map(Number)
    return children.filter((pid) => stateOf(pid) === 'Z')
  } catch {
    return []
  }
}
