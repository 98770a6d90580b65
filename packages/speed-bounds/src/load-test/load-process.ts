// The process that generates the load of `load()`. It ends with the channel to it.

import { availableParallelism } from 'node:os'
import { connectTo } from '../connection/connect-to.ts'
import { ConnectionPool } from '../connection/connection-pool.ts'
import { PollingClock } from './clock.ts'
import type { JobRecord, LoadCommand, LoadMessage, LoadTarget } from './load-messages.ts'
import { Requests } from './requests.ts'
import { runRate } from './run-rate.ts'
import { runUsers } from './run-users.ts'
import { Tally } from './tally.ts'

/** Interval in which requests are checked for their timeout, in milliseconds. */
const EXPIRE = 50

const send = (message: LoadMessage): void => void process.send?.(message)

/** One generator with its connections. They stay open between the phases of a load. */
class Generator {
  readonly #target: LoadTarget
  readonly #pool: ConnectionPool
  readonly #clock: PollingClock
  readonly #requests: Requests
  #mark = { at: 0, waited: 0, loop: performance.eventLoopUtilization() }

  constructor(target: LoadTarget) {
    const { request, connections, requestTimeout } = target
    this.#target = target
    this.#pool = new ConnectionPool(connectTo(request), { limit: connections, keepAlive: request.keepAlive })
    // A polling generator on the only core would take the time of the server.
    this.#clock = new PollingClock(availableParallelism() > 1, () => this.#requests.activity)
    this.#requests = new Requests(this.#clock, requestTimeout)
    setInterval(() => this.#requests.expire(), EXPIRE).unref()
  }

  async run(command: Exclude<LoadCommand, { target: LoadTarget }>): Promise<JobRecord> {
    return 'rate' in command ? this.#runRate(command) : this.#runUsers(command)
  }

  async #runRate({ id, rate }: { id: number; rate: Parameters<typeof runRate>[0] }): Promise<JobRecord> {
    const tally = new Tally(this.#target.status)
    this.#pool.readPeak()
    send({ id, begun: 0 })
    this.#read()
    const start = this.#clock.now()
    await runRate(rate, tally, { clock: this.#clock, requests: this.#requests, send: this.#pool.send })
    const span = Math.max(rate.duration, tally.last - start)
    return { phases: [{ ...tally.read(), ...this.#read(), span, connections: this.#pool.readPeak() }] }
  }

  async #runUsers({ id, users }: { id: number; users: Parameters<typeof runUsers>[0] }): Promise<JobRecord> {
    const tallies = users.stages.map(() => new Tally(this.#target.status))
    const use = users.stages.map(() => ({ elapsed: 0, busy: 0 }))
    let current = -1
    const onStage = (stage: number): void => {
      const before = this.#read()
      if (current >= 0) use[current] = before
      current = stage
      send({ id, begun: stage })
    }
    const { clock, requests } = { clock: this.#clock, requests: this.#requests }
    const connect = connectTo(this.#target.request)
    const { peak } = await runUsers(users, { clock, requests, connect, tallies, onStage })
    if (current >= 0) use[current] = this.#read()
    const phases = tallies.map((tally, stage) => ({ ...tally.read(), ...use[stage]!, connections: peak }))
    return { phases: phases.map((phase) => ({ ...phase, span: phase.elapsed })) }
  }

  /** Time and work since the last call. */
  #read(): { elapsed: number; busy: number } {
    const { at, waited, loop } = this.#mark
    this.#mark = { at: performance.now(), waited: this.#clock.waited, loop: performance.eventLoopUtilization() }
    const { active } = performance.eventLoopUtilization(this.#mark.loop, loop)
    return { elapsed: this.#mark.at - at, busy: Math.max(0, active - (this.#mark.waited - waited)) }
  }
}

let generator: Generator | undefined

process.on('message', (command: LoadCommand) => {
  if ('target' in command) {
    generator = new Generator(command.target)
    return
  }
  const { id } = command
  generator!.run(command).then(
    (done) => send({ id, done }),
    (error: Error) => send({ id, error: error.message }),
  )
})
process.once('disconnect', () => process.exit())
