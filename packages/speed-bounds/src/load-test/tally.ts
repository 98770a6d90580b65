import { build, encodeIntoCompressedBase64, type Histogram } from 'hdr-histogram-js'
import { LATENCY_RANGE } from '../load/latency-range.ts'

/** Counts of a phase. Times are in milliseconds. */
export interface TallyRecord {
  /** Responses with the right status. */
  readonly responses: number
  readonly failures: {
    /** Connections that could not be opened, or broke. */
    readonly errors: number
    readonly timeouts: number
    readonly unexpectedStatus: number
  }
  /** Latencies of the right responses, as a compressed hdr-histogram of microseconds. */
  readonly histogram: string
  readonly mean: number
  /** How late requests were sent, because the generator was busy: 99th percentile. */
  readonly lateness: number
  /** An example of an error. */
  readonly error?: string
}

/** Counts the requests of a phase by their outcome. */
export class Tally {
  readonly #status: number | undefined
  readonly #latency: Histogram = build(LATENCY_RANGE)
  readonly #lateness: Histogram = build(LATENCY_RANGE)
  #errors = 0
  #timeouts = 0
  #unexpectedStatus = 0
  #error: string | undefined
  /** Time of the last right response. */
  #last = 0

  /** @param status the right status. Without it, that is any 2xx */
  constructor(status: number | undefined) {
    this.#status = status
  }

  sent(lateness: number): void {
    record(this.#lateness, lateness)
  }

  timeout(): void {
    this.#timeouts++
  }

  /** Time of the last right response, or 0 without any. */
  get last(): number {
    return this.#last
  }

  /** A request that was intended at a time has ended now. */
  end(outcome: number | Error, { intended, now }: { readonly intended: number; readonly now: number }): void {
    if (typeof outcome !== 'number') {
      this.#errors++
      this.#error ??= outcome.message
    } else if (isRightStatus(outcome, this.#status)) {
      record(this.#latency, now - intended)
      this.#last = now
    } else this.#unexpectedStatus++
  }

  read(): TallyRecord {
    return {
      responses: this.#latency.totalCount,
      failures: { errors: this.#errors, timeouts: this.#timeouts, unexpectedStatus: this.#unexpectedStatus },
      histogram: encodeIntoCompressedBase64(this.#latency),
      mean: this.#latency.totalCount === 0 ? 0 : this.#latency.mean / 1000,
      lateness: this.#lateness.getValueAtPercentile(99) / 1000,
      ...(this.#error === undefined ? {} : { error: this.#error }),
    }
  }
}

/** Whether a status is the expected one, or a 2xx if none is expected. */
export function isRightStatus(status: number, expected: number | undefined): boolean {
  return expected === undefined ? status >= 200 && status < 300 : status === expected
}

function record(histogram: Histogram, milliseconds: number): void {
  const { highestTrackableValue } = LATENCY_RANGE
  histogram.recordValue(Math.min(highestTrackableValue, Math.max(0, Math.round(milliseconds * 1000))))
}
