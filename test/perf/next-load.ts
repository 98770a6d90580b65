import type { RaceOptions } from 'speed-bounds'
import { withMeasurement } from './race-options.ts'

/** Next needs seconds until V8 has optimized its code. Longer rounds, because there is time for them. */
export const load: RaceOptions = {
  measurement: { minWarmUp: 4000, maxWarmUp: 7000, cycles: 2 },
  duration: 1200,
  startTimeout: 60_000,
}

/** For rendered pages. A pause shrinks the heap of Next. See docs/measurements.md#paused-heap */
export const withoutPauses: RaceOptions = withMeasurement({ heats: 'successive' }, load)

/** For responses that cost as little as the wake-up of a sleeping generator. */
export const smallAnswers: RaceOptions = withMeasurement({ busyPoll: 60 }, load)
