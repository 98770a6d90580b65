import type { RaceOptions } from 'speed-bounds'
import { IS_LONG } from './suite.ts'

/** Next takes seconds until all its code is optimised. Where there is time for it, more of a visit counts. */
export const load: RaceOptions = {
  leastWarmUp: 4000,
  warmUp: 7000,
  duration: IS_LONG ? 1200 : 800,
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
