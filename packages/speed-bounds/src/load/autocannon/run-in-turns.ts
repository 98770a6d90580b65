// A workload in turns. Between two turns its connections stay open, and other subjects are measured.

import { performance } from 'node:perf_hooks'
import { setTimeout as sleep } from 'node:timers/promises'
import type { LoadResult, TurnControl, TurnCounts, TurnResult, Workload } from '../generator.ts'
import { BusyPoll } from './busy-poll.ts'
import { maxConnectTime, outcomeOf, SAMPLE_INTERVAL, start, startMeter } from './start-autocannon.ts'
import { RequestGate } from './request-gate.ts'
import { MIN_HANGING_TIME, ResponseTally } from './response-tally.ts'

/** Seconds. Only the race ends a workload in turns. */
const ENDLESS = 1e6

export async function runInTurns(workload: Workload, onReady: (turns: TurnControl) => void): Promise<void> {
  const parts = {
    gate: new RequestGate(workload.load.connections, workload.method),
    tally: new ResponseTally(workload.load),
    poll: new BusyPoll(workload.load.busyPoll),
  }
  const { run, ended } = start(workload, parts, {
    // Between two turns a connection may be silent for as long as the turns of the others take.
    timeout: ENDLESS,
    duration: ENDLESS,
    // Many workloads may be open, and only their end waits for the next sample.
    sampleInt: 50,
  })
  const turns = new Turns(workload, parts)
  onReady({
    turn: (duration, counts) => turns.take(duration, counts),
    collect: () => turns.collect(),
    finish: () => run.stop(),
  })
  await ended
}

interface Parts {
  readonly gate: RequestGate
  readonly tally: ResponseTally
  readonly poll: BusyPoll
}

/** Sums of the turns that count. Times are in milliseconds. */
interface Counted {
  responses: number
  elapsed: number
  busy: number
  cpu: number
  workCpu: number
}

const NOTHING: Readonly<Counted> = { responses: 0, elapsed: 0, busy: 0, cpu: 0, workCpu: 0 }

class Turns {
  readonly #workload: Workload
  readonly #parts: Parts
  readonly #connected: Promise<unknown>
  /** How often clients had connected again by the end of the last turn. */
  #reconnects: number | undefined
  #counted: Counted | undefined
  /** Requests without a response at the end, while no other got one. */
  #timeouts = 0
  /** Right responses and failures at the last call of `collect()`. */
  #collected = { right: 0, failures: { errors: 0, timeouts: 0, hanging: 0, unexpectedStatus: 0 } }

  constructor(workload: Workload, parts: Parts) {
    this.#workload = workload
    this.#parts = parts
    this.#connected = Promise.race([parts.gate.allConnected, sleep(maxConnectTime(workload))])
  }

  async take(duration: number, wanted: TurnCounts): Promise<TurnResult> {
    const { gate, tally, poll } = this.#parts
    await this.#connected
    const wasReconnected = gate.reconnects > (this.#reconnects ?? gate.reconnects)
    const counts = wanted === true || (wanted === 'unless-reconnected' && !wasReconnected)
    if (counts && !this.#counted) {
      this.#counted = { ...NOTHING }
      tally.begin(gate.lost)
    }
    const read = counts ? startMeter(poll) : undefined
    poll.start()
    tally.resume()
    const from = tally.last
    const retriedBefore = gate.retried
    const rightBefore = tally.right
    gate.open()
    await sleep(duration)
    gate.close()
    if (gate.pending > 0) {
      const idle = new Promise<void>((resolve) => (gate.onIdle = resolve))
      await Promise.race([idle, sleep(MIN_HANGING_TIME)])
    }
    poll.stop()
    // The server closed idle connections while the turn began.
    const reconnected = wasReconnected || gate.retried > retriedBefore
    const outcome = { isComplete: gate.pending === 0, reconnected, elapsed: tally.last - from }
    this.#reconnects = gate.reconnects
    if (wanted === 'unless-reconnected' && reconnected) this.#counted = undefined
    if (read && this.#counted) {
      const { busy, cpu, workCpu } = await read()
      this.#counted.responses += tally.right - rightBefore
      this.#counted.elapsed += outcome.elapsed
      this.#counted.busy += busy
      this.#counted.cpu += cpu
      this.#counted.workCpu += workCpu
    }
    return outcome
  }

  /** The measurements of the counted turns since the last call. */
  async collect(): Promise<LoadResult> {
    await this.#settle()
    const { gate, tally } = this.#parts
    const { right, failures: earlier } = this.#collected
    const { responses, elapsed, busy, cpu, workCpu } = this.#counted ?? NOTHING
    const all = outcomeOf(this.#workload, tally, { errors: tally.errors, timeouts: 0 }, gate.lost)
    const total = { ...all.failures, timeouts: this.#timeouts }
    this.#counted = undefined
    this.#collected = { right: tally.right, failures: total }
    const failures = {
      errors: total.errors - earlier.errors,
      timeouts: total.timeouts - earlier.timeouts,
      hanging: total.hanging - earlier.hanging,
      unexpectedStatus: total.unexpectedStatus - earlier.unexpectedStatus,
    }
    const before = { responses: all.before.responses - right, failures: all.before.failures - sumOf(earlier) }
    return { ...all, responses, elapsed, utilization: Math.min(1, busy / elapsed), cpu, workCpu, before, failures }
  }

  /** Waits until each pending request has its response, fails, hangs, or times out. */
  async #settle(): Promise<void> {
    const { gate, tally } = this.#parts
    if (gate.pending === 0) return
    // While others get responses, a pending request gets one too, or never will.
    tally.resume()
    gate.open()
    const deadline = performance.now() + this.#workload.load.requestTimeout
    const hangs = (): boolean => tally.isOver() && tally.hanging > 0
    while (gate.stuck > 0 && !hangs() && performance.now() < deadline) await sleep(SAMPLE_INTERVAL)
    gate.close()
    if (performance.now() >= deadline) this.#timeouts += gate.stuck
  }
}

function sumOf({ errors, timeouts, hanging, unexpectedStatus }: LoadResult['failures']): number {
  return errors + timeouts + hanging + unexpectedStatus
}
