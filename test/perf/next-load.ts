import type { RaceOptions } from 'speed-bounds'
import { withMeasurement } from './race-options.ts'

/** Next takes seconds until all its code is optimised. More of a visit counts, as there is time for it. */
export const load: RaceOptions = {
  measurement: { minWarmUp: 4000, maxWarmUp: 7000, cycles: 2 },
  duration: 1200,
  startTimeout: 60_000,
}

/**
 * For what Next renders. After ten seconds without a request its heap is made small: a page then takes twice the CPU for a second
 * or two, and in some processes half as much again for more than twelve.
 */
export const withoutPauses: RaceOptions = withMeasurement({ heats: 'successive' }, load)

/** For answers that cost as little as to wake a generator that sleeps. */
export const smallAnswers: RaceOptions = withMeasurement({ busyPoll: 60 }, load)
