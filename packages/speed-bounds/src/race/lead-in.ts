import type { ResolvedLoad } from '../options/resolved.ts'

/**
 * Load before a round on new connections, as a multiple of its length and in milliseconds. New connections and processes that
 * have waited cost more, and not equally more for each server: with a lead of 0.1 s, ratios came out from 0.77x to 1.62x.
 * See docs/measurements.md#lead-before-rounds
 */
const LEAD = { ROUNDS: 3, MAX: 1000 }

/** Milliseconds of load before a round. wrk cannot leave it out, but its rounds are long enough to hide it. */
export function leadOf({ generator, duration }: ResolvedLoad): number {
  return generator === 'wrk' ? 0 : Math.min(LEAD.MAX, LEAD.ROUNDS * duration)
}
