// A workload in turns. Between two turns its connections stay open, and other subjects are measured.

import { performance } from 'node:perf_hooks'
import { setTimeout as sleep } from 'node:timers/promises'
import type { LoadResult, TurnControl, TurnResult, Workload } from '../generator.ts'
import { BusyPoll } from './busy-poll.ts'
import { maxConnectTime, outcomeOf, SAMPLE_INTERVAL, start, startMeter } from './start-autocannon.ts'
import { RequestGate } from './request-gate.ts'
import { MIN_HANGING_TIME, ResponseTally } from './response-tally.ts'

/** Seconds. Only the race ends a workload in turns. */
const ENDLESS = 1e6

export async function runInTurns(workload: Workload, onReady: (turns: TurnControl) => void): Promise<LoadResult> {
  const parts = {
    gate: new RequestGate(workload.load.connections),
    tally: new ResponseTally(workload.load),
    poll: new BusyPoll(workload.load.busyPoll),
  }
  const { run, ended } = start(workload, parts.tally, {
    // Between two turns a connection may be silent for as long as the turns of the others take.
    timeout: ENDLESS,
    duration: ENDLESS,
    setupClient: parts.gate.setupClient,
  })
  const turns = new Turns(workload, parts)
  onReady({
    turn: (duration, counts) => turns.take(duration, counts),
    finish: () => void turns.finish().then(() => run.stop()),
  })
  const result = await ended
  const { responses, elapsed, busy, cpu } = turns.counted ?? { responses: 0, elapsed: 0, busy: 0, cpu: 0 }
  const outcome = outcomeOf(workload, parts.tally, result, parts.gate.lost)
  const failures = { ...outcome.failures, timeouts: outcome.failures.timeouts + turns.timeouts }
  return { responses, elapsed, utilization: Math.min(1, busy / elapsed), cpu, ...outcome, failures }
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
}

class Turns {
  readonly #workload: Workload
  readonly #parts: Parts
  readonly #connected: Promise<unknown>
  #counted: Counted | undefined
  #timeouts = 0

  constructor(workload: Workload, parts: Parts) {
    this.#workload = workload
    this.#parts = parts
    this.#connected = Promise.race([parts.gate.allConnected, sleep(maxConnectTime(workload))])
  }

  get counted(): Counted | undefined {
    return this.#counted
  }

  /** Requests without a response at the end, while no other got one. */
  get timeouts(): number {
    return this.#timeouts
  }

  async take(duration: number, counts: boolean): Promise<TurnResult> {
    const { gate, tally, poll } = this.#parts
    await this.#connected
    if (counts && !this.#counted) {
      this.#counted = { responses: 0, elapsed: 0, busy: 0, cpu: 0 }
      tally.begin(gate.lost)
    }
    const read = startMeter(poll)
    poll.start()
    tally.resume()
    const from = tally.last
    const rightBefore = tally.right
    gate.open()
    await sleep(duration)
    gate.close()
    if (gate.pending > 0) {
      const idle = new Promise<void>((resolve) => (gate.onIdle = resolve))
      await Promise.race([idle, sleep(MIN_HANGING_TIME)])
    }
    poll.stop()
    const outcome = { isComplete: gate.pending === 0, elapsed: tally.last - from }
    if (counts && this.#counted) {
      const { busy, cpu } = await read()
      this.#counted.responses += tally.right - rightBefore
      this.#counted.elapsed += outcome.elapsed
      this.#counted.busy += busy
      this.#counted.cpu += cpu
    }
    return outcome
  }

  /** Waits until each pending request has its response, hangs, or times out. */
  async finish(): Promise<void> {
    const { gate, tally } = this.#parts
    if (gate.pending === 0 || tally.hasErrors) return
    // While others get responses, a pending request gets one too, or never will.
    gate.open()
    const deadline = performance.now() + this.#workload.load.requestTimeout
    while (!tally.isOver() && !tally.hasErrors && performance.now() < deadline) await sleep(SAMPLE_INTERVAL)
    if (performance.now() >= deadline) this.#timeouts = gate.pending
  }
}
