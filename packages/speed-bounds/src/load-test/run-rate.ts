import type { Cancel, OnEnd } from '../connection/connection.ts'
import { arrivalTimes, type RatePlan } from './arrivals.ts'
import type { Clock } from './clock.ts'
import { pace } from './pace.ts'
import type { Requests } from './requests.ts'
import type { Tally } from './tally.ts'

/** An open loop: requests are sent at their times, with or without responses. Resolves after the last response. */
export async function runRate(
  plan: RatePlan,
  tally: Tally,
  { clock, requests, send }: { clock: Clock; requests: Requests; send: (onEnd: OnEnd) => Cancel },
): Promise<void> {
  const start = clock.now()
  await pace(arrivalTimes(plan), start, clock, (intended) => requests.send(send, intended, tally))
  await untilTime(clock, start + plan.duration)
  await requests.whenIdle()
}

function untilTime(clock: Clock, time: number): Promise<void> {
  return new Promise((resolve) => clock.sleep(Math.max(0, time - clock.now()), resolve))
}
