// Requests at a steady rate, whatever the answers do: a slow gateway does not slow down those who ask it.

import { Agent, request } from 'undici'

export interface Load {
  /** Milliseconds from when a request was due, of those that were answered with 200. */
  latencies: number[]
  /** How many answers there were with each status; 0 stands for no answer. */
  statuses: Map<number, number>
}

/** Milliseconds between two batches of requests. */
const TICK = 4

/** Asks for the paths in turn, `rate` times a second, for so many milliseconds, and waits for all answers. */
export async function openLoop(url: string, paths: readonly string[], rate: number, duration: number): Promise<Load> {
  const dispatcher = new Agent({ connections: 2000, pipelining: 1 })
  const load: Load = { latencies: [], statuses: new Map() }
  const asked: Promise<void>[] = []
  const start = performance.now()
  const ask = async (due: number, path: string): Promise<void> => {
    const status = await request(url + path, { dispatcher }).then(
      async ({ statusCode, body }) => {
        await body.dump()
        return statusCode
      },
      () => 0,
    )
    load.statuses.set(status, (load.statuses.get(status) ?? 0) + 1)
    if (status === 200) load.latencies.push(performance.now() - due)
  }
  await new Promise<void>((resolve) => {
    const timer = setInterval(() => {
      const elapsed = Math.min(performance.now() - start, duration)
      while (asked.length < (elapsed * rate) / 1000) {
        asked.push(ask(start + (asked.length * 1000) / rate, paths[asked.length % paths.length]!))
      }
      if (elapsed < duration) return
      clearInterval(timer)
      resolve()
    }, TICK)
  })
  await Promise.all(asked)
  await dispatcher.close()
  return load
}

/** The value that a share of them is not above. */
export function percentile(values: readonly number[], share: number): number {
  return values.toSorted((a, b) => a - b)[Math.ceil(values.length * share) - 1]!
}
