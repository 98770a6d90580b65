import { performance } from 'node:perf_hooks'
import { build, encodeIntoCompressedBase64 } from 'hdr-histogram-js'
import type { ResolvedLoad } from '../../options/resolved.ts'
import { LATENCY_RANGE } from '../latency-range.ts'

/**
 * A round is shorter than any timeout, so it would not notice hanging requests. A connection hangs if it has waited this
 * many times longer than the p99. With 400 connections to a busy server, some wait long, but not that long.
 */
const HANGING_FACTOR = 20

/** Minimum wait of a hanging connection while others get responses, in milliseconds. */
export const MIN_HANGING_TIME = 1000

/**
 * Maximum milliseconds between two responses that count as waiting. In a longer silence no connection gets a response,
 * because the server has no core. Then a waiting connection does not hang.
 */
const MAX_SILENCE = 50

/** Counts the responses of each connection, and their latency. */
export class ResponseTally {
  readonly #load: ResolvedLoad
  // autocannon records whole milliseconds, but the p99 of a fast server is a fraction of one.
  readonly #latency = build(LATENCY_RANGE)
  #right = 0
  #wrong = 0
  #erred = 0
  #began = performance.now()
  #before = { responses: 0, failures: 0 }
  #last = this.#began
  /** Time of the last response, or of a new connection in place of one that ended. */
  #lastSign = this.#began
  /** Milliseconds with such signs. */
  #active = 0
  /** The last sign of each client, in active milliseconds. */
  readonly #lastSigns = new Map<unknown, number>()
  #hanging = 0

  constructor(load: ResolvedLoad) {
    this.#load = load
  }

  response(client: unknown, isRight: boolean, milliseconds: number): void {
    if (isRight) this.#right++
    else this.#wrong++
    this.#latency.recordValue(milliseconds * 1000)
    this.#last = this.#sign(client)
  }

  /** A client has connected again. Its old requests have failed, and its new ones have not waited yet. */
  reconnected(client: unknown): void {
    this.#sign(client)
  }

  /** A request timed out, or its connection broke. */
  error(): void {
    this.#erred++
  }

  /** The server could not respond until now. */
  resume(): void {
    this.#last = this.#lastSign = performance.now()
  }

  /** The round begins. All earlier counts are `before`, with this many lost requests. */
  begin(lost: number): void {
    this.#began = performance.now()
    this.#before = { responses: this.#right, failures: this.#wrong + this.errors + Math.max(0, lost - this.#erred) }
    this.#latency.reset()
  }

  get began(): number {
    return this.#began
  }

  get before(): { readonly responses: number; readonly failures: number } {
    return this.#before
  }

  /** Time of the last response. */
  get last(): number {
    return this.#last
  }

  /** Responses with the right status, including those before the round. */
  get right(): number {
    return this.#right
  }

  /** Responses with another status. */
  get wrong(): number {
    return this.#wrong
  }

  /** autocannon reports each error once per pipelined request. */
  get errors(): number {
    return this.#erred / this.#load.pipelining
  }

  /** Connections that waited too long while others got responses. Valid after `isOver()`. */
  get hanging(): number {
    return this.#hanging
  }

  get latency(): { readonly p50: number; readonly p90: number; readonly p99: number } {
    return { p50: this.#percentile(50), p90: this.#percentile(90), p99: this.#percentile(99) }
  }

  /** All latencies in microseconds, as a compressed hdr-histogram. */
  get histogram(): string {
    return encodeIntoCompressedBase64(this.#latency)
  }

  /**
   * Whether all connections had a recent response or error, some hang, or all fail. If all wait, the next response or a
   * timeout decides.
   */
  isOver(): boolean {
    if (this.#lastSigns.size === 0) return false
    const long = HANGING_FACTOR * this.#percentile(99)
    this.#hanging = this.#waiting(Math.max(long, MIN_HANGING_TIME))
    const isSilent = this.#lastSign < this.#began || performance.now() - this.#lastSign > long
    const hasEachSigned = this.#lastSigns.size === this.#load.connections && this.#waiting(long) === 0
    const onlyFails = this.#lastSign - this.#last > MIN_HANGING_TIME
    return this.#hanging > 0 || onlyFails || (!isSilent && hasEachSigned)
  }

  /** Number of connections that have waited longer than this many milliseconds. */
  #waiting(milliseconds: number): number {
    const past = this.#activeAt(performance.now()) - milliseconds
    const late = [...this.#lastSigns.values()].filter((at) => at < past).length
    return late + (past > 0 ? this.#load.connections - this.#lastSigns.size : 0)
  }

  #sign(client: unknown): number {
    const now = performance.now()
    this.#active = this.#activeAt(now)
    this.#lastSign = now
    this.#lastSigns.set(client, this.#active)
    return now
  }

  #activeAt(time: number): number {
    return this.#active + Math.min(time - this.#lastSign, MAX_SILENCE)
  }

  /** In milliseconds. */
  #percentile(percentile: number): number {
    return this.#latency.getValueAtPercentile(percentile) / 1000
  }
}
