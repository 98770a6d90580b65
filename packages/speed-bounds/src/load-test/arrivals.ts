// The times at which an open loop sends requests.

/** Requests per second, which change linearly. At a constant rate, both ends are the same. */
export interface RatePlan {
  readonly from: number
  readonly to: number
  /** Milliseconds. */
  readonly duration: number
}

/** The intended times of all requests, in milliseconds after the start. The first one is sent at once. */
export function* arrivalTimes({ from, to, duration }: RatePlan): Generator<number, void> {
  const seconds = duration / 1000
  const total = ((from + to) / 2) * seconds
  const slope = (to - from) / seconds
  // Until time t, `from * t + slope / 2 * t * t` requests are due. This is the root that has no division by 0 at a slope
  // of 0. Rounding must not add a last request.
  for (let number = 0; number < total - 1e-6; number++) {
    yield number === 0 ? 0 : (2000 * number) / (from + Math.sqrt(Math.max(0, from * from + 2 * slope * number)))
  }
}
