import type { RaceOptions } from 'speed-bounds'

/** Next takes seconds until all its code is optimised. More of a visit counts, as there is time for it. */
export const load: RaceOptions = {
  leastWarmUp: 4000,
  warmUp: 7000,
  duration: 1200,
  cycles: 2,
  startTimeout: 60_000,
}

/**
 * For what Next renders. After ten seconds without a request its heap is made small: a page then takes twice the CPU for a second
 * or two, and in some processes half as much again for more than twelve.
 */
export const withoutPauses: RaceOptions = { ...load, heats: 'successive' }

/** For answers that cost as little as to wake a generator that sleeps. */
export const smallAnswers: RaceOptions = { ...load, busyPoll: 60 }
