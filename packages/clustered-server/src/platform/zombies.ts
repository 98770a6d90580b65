// Process 1 of a container becomes the parent of those whose own parents have ended. Node waits for the ends of processes
// that it has started, and of no others: each of these stays in the kernel's table when it has ended, which has room for so many.

import { readFileSync } from 'node:fs'
import type { ClusteredServer } from '../types.ts'
import { stateOf } from './proc-stat.ts'
import type { Logger } from '../options/options.ts'

/** Milliseconds between two looks. */
const LOOK = 5000

/** Says so where ended processes stay since this one is process 1, and again when they are twice as many. */
export function warnOfZombies(server: ClusteredServer, logger: Logger): void {
  if (process.pid !== 1) return
  let before = new Set<number>()
  let told = 0
  const timer = setInterval(() => {
    const now = new Set(zombies())
    // The end of one of its own may be about to be heard of.
    const { size } = now.intersection(before)
    before = now
    if (size === 0 || size < told * 2) return
    told = size
    const text = `${size} processes have ended and stay as zombies, as this is process 1 of its container, and Node does not take in what others leave: have an init before it, such as by docker run --init`
    logger.warn({ zombies: size }, text)
  }, LOOK).unref()
  server.once('closed', () => clearInterval(timer))
}

/** Children of this process that have ended and that nobody has waited for, on Linux. */
function zombies(): number[] {
  try {
    const children = readFileSync(`/proc/self/task/${process.pid}/children`, 'utf8').split(' ').map(Number)
    return children.filter((pid) => stateOf(pid) === 'Z')
  } catch {
    return []
  }
}
