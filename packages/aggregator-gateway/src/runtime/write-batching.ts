// What is done with the others of its turn of the event loop, when all that has come in it is read: requests lead to calls
// together, and answers leave together. A write wakes who reads it, and one after the other they wake it once.

/** Something that is done once, and does not throw. */
interface Due {
  due(): void
}

let waiting: Due[] = []

/** Has it done at the end of this turn, after what waits already. */
export function atEndOfTurn(one: Due): void {
  if (waiting.length === 0) setImmediate(doAll)
  waiting.push(one)
}

function doAll(): void {
  const all = waiting
  waiting = []
  for (const one of all) one.due()
}
