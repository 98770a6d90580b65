// Users who ask, wait for the answer and ask again, each over a connection of its own. How many there are changes
// with time: load generators that take numbers of connections keep to one.

import { build, type Histogram } from 'hdr-histogram-js'
import { setTimeout as sleep } from 'node:timers/promises'
import { Client } from 'undici'

/** The number of users moves in a straight line from that of the stage before to this. */
export interface Stage {
  readonly users: number
  /** Milliseconds. */
  readonly duration: number
}

export interface LoadFigures {
  /** Right answers. */
  readonly answers: number
  /** Requests with another status than 200, and those without an answer. */
  readonly failures: number
  /** Milliseconds. */
  readonly average: number
  readonly p95: number
  readonly p99: number
  readonly p999: number
}

/** How often a user who is not there yet looks whether it is, in milliseconds. */
const LOOK = 10

/** How long an answer may take before it counts as failed, in milliseconds. */
const PATIENCE = 10_000

/** So many users for so long. */
export function constantly(users: number, duration: number): readonly Stage[] {
  return [
    { users, duration: 0 },
    { users, duration },
  ]
}

export interface UserOptions {
  /** Whether a user keeps to one connection; otherwise each request has a new one. @default true */
  readonly keepAlive?: boolean
  /** Milliseconds on average from an answer to the next request, by up to a half more or less. @default 0 */
  readonly pause?: number
}

/** Puts a server under load, and waits for the last answer. */
export async function userLoad(
  url: string,
  stages: readonly Stage[],
  { keepAlive = true, pause = 0 }: UserOptions = {},
): Promise<LoadFigures> {
  const { origin, pathname } = new URL(url)
  const latency = build({
    lowestDiscernibleValue: 1,
    highestTrackableValue: 60_000_000,
    numberOfSignificantValueDigits: 3,
  })
  let failures = 0
  const began = performance.now()

  const user = async (number: number): Promise<void> => {
    const client = new Client(origin, {
      headersTimeout: PATIENCE,
      bodyTimeout: PATIENCE,
      pipelining: keepAlive ? 1 : 0,
    })
    for (;;) {
      const present = usersAt(stages, performance.now() - began)
      if (present === undefined) break
      if (present > number) {
        failures += await ask(client, pathname, latency)
        if (pause > 0) await sleep(pause * (0.5 + Math.random()))
      } else await sleep(LOOK)
    }
    await client.close()
  }
  const most = Math.max(...stages.map(({ users }) => users))
  await Promise.all(Array.from({ length: most }, (_, number) => user(number)))

  const milliseconds = (percentile: number): number => latency.getValueAtPercentile(percentile) / 1000
  return {
    answers: latency.totalCount,
    failures,
    average: latency.mean / 1000,
    p95: milliseconds(95),
    p99: milliseconds(99),
    p999: milliseconds(99.9),
  }
}

/** Returns how many failed. */
async function ask(client: Client, path: string, latency: Histogram): Promise<number> {
  const asked = performance.now()
  try {
    const { statusCode, body } = await client.request({ method: 'GET', path })
    await body.dump({ limit: Number.POSITIVE_INFINITY })
    if (statusCode !== 200) return 1
  } catch {
    // One that is not there must not be asked a million times.
    await sleep(LOOK)
    return 1
  }
  latency.recordValue((performance.now() - asked) * 1000)
  return 0
}

/** How many there are at a time; nothing when the last stage is over. */
function usersAt(stages: readonly Stage[], time: number): number | undefined {
  let from = 0
  let start = 0
  for (const { users, duration } of stages) {
    if (time < start + duration) return from + ((users - from) * (time - start)) / duration
    from = users
    start += duration
  }
  return undefined
}
