// A closed loop: users that send a request, wait for its response and repeat that, each over its own connection.

import type { Connect } from '../connection/connection.ts'
import { ConnectionPool } from '../connection/connection-pool.ts'
import type { Clock } from './clock.ts'
import type { Requests } from './requests.ts'
import type { Tally } from './tally.ts'
import { type UserStage, usersAt } from './users.ts'

/** Interval in which users become active, in milliseconds. A user waits as long after a failed request. */
const TICK = 10

/** The load of users. */
export interface UserPlan {
  readonly stages: readonly UserStage[]
  /** Mean milliseconds from a response to the next request, varied by up to a half. */
  readonly pause: number
  readonly keepAlive: boolean
}

/** Events of the stages, and the parts that all loads share. */
export interface UserContext {
  readonly clock: Clock
  readonly requests: Requests
  readonly connect: Connect
  /** One for each stage. A request belongs to the stage in which it was sent. */
  readonly tallies: readonly Tally[]
  readonly onStage: (stage: number) => void
}

/** Runs all stages. Resolves after the last response. */
export async function runUsers(plan: UserPlan, context: UserContext): Promise<{ readonly peak: number }> {
  const { stages, keepAlive } = plan
  const most = Math.max(...stages.map(({ users }) => users))
  const pools = Array.from({ length: most }, () => new ConnectionPool(context.connect, { limit: 1, keepAlive }))
  const loop = new UserLoop(plan, context, pools)
  await loop.run()
  await context.requests.whenIdle()
  const peak = pools.reduce((sum, pool) => sum + pool.readPeak(), 0)
  for (const pool of pools) pool.close()
  return { peak }
}

class UserLoop {
  readonly #plan: UserPlan
  readonly #context: UserContext
  readonly #pools: readonly ConnectionPool[]
  readonly #start: number
  /** Users that wait until they become active again, by number. */
  readonly #idle: Set<number>
  readonly #ended = Promise.withResolvers<void>()
  #stage = -1

  constructor(plan: UserPlan, context: UserContext, pools: readonly ConnectionPool[]) {
    this.#plan = plan
    this.#context = context
    this.#pools = pools
    this.#start = context.clock.now()
    this.#idle = new Set(pools.keys())
  }

  run(): Promise<void> {
    this.#tick()
    return this.#ended.promise
  }

  readonly #tick = (): void => {
    const present = this.#present()
    if (!present) {
      this.#ended.resolve()
      return
    }
    if (present.stage !== this.#stage) this.#context.onStage(present.stage)
    this.#stage = present.stage
    for (const number of this.#idle) if (number < present.users) this.#next(number)
    this.#context.clock.sleep(TICK, this.#tick)
  }

  #present(): ReturnType<typeof usersAt> {
    return usersAt(this.#plan.stages, this.#context.clock.now() - this.#start)
  }

  /** The next request of a user, unless it has become idle. */
  #next(number: number): void {
    const present = this.#present()
    if (!present || number >= present.users) {
      this.#idle.add(number)
      return
    }
    this.#idle.delete(number)
    const { clock, requests, tallies } = this.#context
    const { send } = this.#pools[number]!
    let hasFailed = false
    requests.send(
      (onEnd) =>
        send((outcome) => {
          hasFailed = typeof outcome !== 'number'
          onEnd(outcome)
        }),
      clock.now(),
      tallies[present.stage]!,
      () => this.#rest(number, hasFailed ? TICK : 0),
    )
  }

  #rest(number: number, least: number): void {
    const pause = this.#plan.pause === 0 ? 0 : this.#plan.pause * (0.5 + Math.random())
    const wait = Math.max(pause, least)
    if (wait === 0) this.#next(number)
    else this.#context.clock.sleep(wait, () => this.#next(number))
  }
}
