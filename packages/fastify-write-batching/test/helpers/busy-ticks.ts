import type { RawClient } from './raw-client.ts'

/** A machine may be too slow for a tick of quick writes: most tests need one only. */
const ROUNDS = 200

/** Sends a request on all connections in one tick, and waits for the text that ends each response. */
export async function sendOnAll(clients: readonly RawClient[], request: string, end: string): Promise<string[]> {
  for (const { socket } of clients) socket.write(request)
  return Promise.all(clients.map((client) => client.until(end)))
}

/** Repeats rounds until one of them has what a test waits for. */
export async function untilRound(hasIt: () => boolean, round: () => Promise<unknown>): Promise<boolean> {
  for (let done = 0; done < ROUNDS; done++) {
    await round()
    if (hasIt()) return true
  }
  return false
}
