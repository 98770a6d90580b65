import { performance } from 'node:perf_hooks'
import { build } from 'hdr-histogram-js'
import type { ResolvedLoad } from '../options/resolve.ts'

/**
 * A round is shorter than any timeout, so a server that leaves requests hanging would not be noticed.
 * A connection is hanging if at the end it had waited this many times longer than the p99 of all
 * answers: among 400 connections at a busy server some wait long for their turn, but not that long.
 */
const HANGING = 20

/** Milliseconds that one which looks so has to answer, while others are answered. */
export const PATIENCE = 1000

/**
 * Milliseconds between two answers that count as waiting, at the most: in a longer silence nobody is answered, since the
 * server has no core or another guest of the hypervisor has it, and who waits then hangs no more than the others do.
 */
const SILENCE = 50

/** What the connections of a round were answered, and when. */
export class Tally {
  readonly #load: ResolvedLoad
  // autocannon records whole milliseconds; a p99 of a fast server is a fraction of one.
  readonly #latency = build({
    lowestDiscernibleValue: 1,
    highestTrackableValue: 60_000_000,
    numberOfSignificantValueDigits: 3,
  })
  #right = 0
  #wrong = 0
  #erred = 0
  #began = performance.now()
  #before = { answers: 0, failures: 0 }
  #last = this.#began
  /** Milliseconds in which there were answers. */
  #lively = 0
  /** When each connection had its last answer, in milliseconds in which there were some. */
  readonly #lastAnswers = new Map<unknown, number>()
  #hanging = 0

  constructor(load: ResolvedLoad) {
    this.#load = load
  }

  answer(connection: unknown, isRight: boolean, milliseconds: number): void {
    if (isRight) this.#right++
    else this.#wrong++
    this.#latency.recordValue(milliseconds * 1000)
    const now = performance.now()
    this.#lively = this.#livelyAt(now)
    this.#last = now
    this.#lastAnswers.set(connection, this.#lively)
  }

  /** A request had no answer in time, or its connection broke. */
  error(): void {
    this.#erred++
  }

  /** Until now nobody could be answered. */
  wake(): void {
    this.#last = performance.now()
  }

  /** The round begins: what was there until now is `before`, with so many requests that were lost. */
  begin(lost: number): void {
    this.#began = performance.now()
    // Each error is told of once for each request that may be under way.
    const errors = this.#erred / this.#load.pipelining
    this.#before = { answers: this.#right, failures: this.#wrong + errors + Math.max(0, lost - this.#erred) }
    this.#latency.reset()
  }

  get began(): number {
    return this.#began
  }

  get before(): { readonly answers: number; readonly failures: number } {
    return this.#before
  }

  /** When the last answer came. */
  get last(): number {
    return this.#last
  }

  /** Answers with the right status, those before the round included. */
  get right(): number {
    return this.#right
  }

  /** Answers with another one. */
  get wrong(): number {
    return this.#wrong
  }

  get hasErrors(): boolean {
    return this.#erred > 0
  }

  /** Of those who wait while others were answered, some may look as if they hung: it is known after a while. */
  get hanging(): number {
    return this.#hanging
  }

  get latency(): { readonly p50: number; readonly p90: number; readonly p99: number } {
    return { p50: this.#percentile(50), p90: this.#percentile(90), p99: this.#percentile(99) }
  }

  /** Whether nobody waits for an answer for too long, or some hang. When all wait, the first answer or a timeout will tell. */
  isOver(): boolean {
    if (this.#lastAnswers.size === 0) return false
    const long = HANGING * this.#percentile(99)
    this.#hanging = this.#waiting(Math.max(long, PATIENCE))
    const isSilent = this.#last < this.#began || performance.now() - this.#last > long
    const areAllAnswered = this.#lastAnswers.size === this.#load.connections && this.#waiting(long) === 0
    return this.#hanging > 0 || (!isSilent && areAllAnswered)
  }

  /** How many connections have waited for longer than so many milliseconds. */
  #waiting(milliseconds: number): number {
    const past = this.#livelyAt(performance.now()) - milliseconds
    const answered = [...this.#lastAnswers.values()].filter((at) => at < past).length
    return answered + (past > 0 ? this.#load.connections - this.#lastAnswers.size : 0)
  }

  #livelyAt(time: number): number {
    return this.#lively + Math.min(time - this.#last, SILENCE)
  }

  /** In milliseconds. */
  #percentile(percentile: number): number {
    return this.#latency.getValueAtPercentile(percentile) / 1000
  }
}
