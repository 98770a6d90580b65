// Those who ask: at a steady rate, whatever the answers do, or as soon as they have their answers.

import { Agent, request } from 'undici'

export interface Load {
  /** Milliseconds from when a request was due, of those that were answered with 200. */
  latencies: number[]
  /** How many answers there were with each status; 0 stands for no answer. */
  statuses: Map<number, number>
}

/** Milliseconds between two batches of requests. */
const TICK = 4

/**
 * Asks for the paths in turn, `rate` times a second, for so many milliseconds, and waits for all answers. A
 * slow gateway does not slow down those who ask it.
 */
export async function openLoop(url: string, paths: readonly string[], rate: number, duration: number): Promise<Load> {
  const dispatcher = new Agent({ connections: 2000, pipelining: 1 })
  const load: Load = { latencies: [], statuses: new Map() }
  const asked: Promise<void>[] = []
  const start = performance.now()
  const ask = async (due: number, path: string): Promise<void> => {
    const status = await statusOf(url + path, dispatcher).catch(() => 0)
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

/** How many answers with 200 so many clients have together within so many milliseconds: each waits for its answer, and asks again. */
export async function closedLoop(url: string, clients: number, duration: number): Promise<number> {
  const dispatcher = new Agent({ connections: clients, pipelining: 1 })
  const end = performance.now() + duration
  let answers = 0
  const client = async (): Promise<void> => {
    while (performance.now() < end) if ((await statusOf(url, dispatcher)) === 200) answers++
  }
  await Promise.all(Array.from({ length: clients }, client))
  await dispatcher.close()
  return answers
}

/** The status of an answer that has come to its end. */
export async function statusOf(url: string, dispatcher: Agent, signal?: AbortSignal): Promise<number> {
  const { statusCode, body } = await request(url, { dispatcher, ...(signal && { signal }) })
  await body.dump()
  return statusCode
}

/** The value that a share of them is not above. */
export function percentile(values: readonly number[], share: number): number {
  return values.toSorted((a, b) => a - b)[Math.ceil(values.length * share) - 1]!
}
