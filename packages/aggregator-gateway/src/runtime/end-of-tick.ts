// Runs the work of an event-loop tick together, after all sockets are read: calls start together, and responses are written
// together. A write wakes the process that reads it; a batch of writes wakes it once.

/** Work that runs once, and does not throw. */
interface Scheduled {
  flush(): void
}

let scheduled: Scheduled[] = []

/** Runs it at the end of this tick, after work that was scheduled before. */
export function scheduleAfterPoll(one: Scheduled): void {
  if (scheduled.length === 0) setImmediate(flushAll)
  scheduled.push(one)
}

function flushAll(): void {
  const all = scheduled
  scheduled = []
  for (const one of all) one.flush()
}
