// Users that send a request, wait for the response and repeat that, each over its own connection. Their number changes with
// time, while other load generators have a fixed number of connections.

import { build, type Histogram } from 'hdr-histogram-js'
import { setTimeout as sleep } from 'node:timers/promises'
import { Client } from 'undici'

/** The number of users changes linearly from that of the stage before to this one. */
export interface Stage {
  readonly users: number
  /** Milliseconds. */
  readonly duration: number
}

export interface LoadFigures {
  /** Right responses. */
  readonly answers: number
  /** Requests with another status than 200, and those without a response. */
  readonly failures: number
  /** Milliseconds. */
  readonly average: number
  readonly p95: number
  readonly p99: number
  readonly p999: number
}

/** Interval in which a waiting user checks whether it has become active, in milliseconds. */
const LOOK = 10

/** Time until a request without a response has failed, in milliseconds. */
const PATIENCE = 10_000

/** A constant number of users. */
export function constantly(users: number, duration: number): readonly Stage[] {
  return [
    { users, duration: 0 },
    { users, duration },
  ]
}

export interface UserOptions {
  /** Whether a user has one keep-alive connection. Else each request has a new one. @default true */
  readonly keepAlive?: boolean
  /** Mean milliseconds from a response to the next request, varied by up to a half. @default 0 */
  readonly pause?: number
}

/** Puts a server under load, and waits for the last response. */
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

/** Returns the number of failed requests. */
async function ask(client: Client, path: string, latency: Histogram): Promise<number> {
  const asked = performance.now()
  try {
    const { statusCode, body } = await client.request({ method: 'GET', path })
    await body.dump({ limit: Number.POSITIVE_INFINITY })
    if (statusCode !== 200) return 1
  } catch {
    // Limits the requests to a server that is down.
    await sleep(LOOK)
    return 1
  }
  latency.recordValue((performance.now() - asked) * 1000)
  return 0
}

/** Number of users at this time, or undefined after the last stage. */
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
