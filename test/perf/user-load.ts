// Virtual users, whose number changes with time. A race has a fixed number of connections.

import { load, type LoadPhase, type LoadStage } from 'speed-bounds'

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

/** A constant number of users. */
export function constantly(users: number, duration: number): readonly LoadStage[] {
  return [
    { users, duration: 0 },
    { users, duration },
  ]
}

export interface UserOptions {
  /** Whether a user has one keep-alive connection. Else each request has a new one. @default true */
  readonly keepAlive?: boolean
  /** Factor of the durations of the stages. @default 1 */
  readonly timeScale?: number
}

/** Puts a running server under load, and waits for the last response. */
export async function userLoad(
  url: string,
  stages: readonly LoadStage[],
  options: UserOptions = {},
): Promise<LoadFigures> {
  const { origin, pathname } = new URL(url)
  const { total } = await load(origin, { ...options, path: pathname, status: 200, stages, warmUp: 0 })
  const { responses, failures, latency } = total!
  return {
    answers: responses,
    failures: failures.errors + failures.timeouts + failures.unexpectedStatus,
    average: latency?.mean ?? Number.NaN,
    p95: percentile(latency, 95),
    p99: percentile(latency, 99),
    p999: percentile(latency, 99.9),
  }
}

/** Without enough responses to know a percentile, it is the maximum. */
function percentile(latency: LoadPhase['latency'], wanted: number): number {
  return latency?.percentiles.find(([known]) => known === wanted)?.[1] ?? latency?.max ?? Number.NaN
}
