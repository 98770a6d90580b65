import type { RaceOptions } from 'speed-bounds'
import { withMeasurement } from './race-options.ts'

/** Next needs seconds until V8 has optimized its code. A pause shrinks its heap. See docs/measurements.md#paused-heap */
export const load: RaceOptions = {
  measurement: { heats: 'successive', minWarmUp: 4000, maxWarmUp: 7000, cycles: 4 },
  duration: 400,
  startTimeout: 60_000,
}

/** For responses that cost as little as the wake-up of a sleeping generator. */
export const smallAnswers: RaceOptions = withMeasurement({ busyPoll: 60 }, load)

/** Rendered pages take milliseconds: a round has hundreds of them. */
export const renderedPages: RaceOptions = withMeasurement({ cycles: 3 }, { ...load, duration: 1000 })
