import type { MeasurementOptions, RaceOptions } from 'speed-bounds'

/** The options with some options of the measurement changed. */
export function withMeasurement(measurement: MeasurementOptions, options: RaceOptions): RaceOptions {
  return { ...options, measurement: { ...options.measurement, ...measurement } }
}

/**
 * The options with whole rounds of this length in milliseconds. In turns, a quota would be refilled in each pause, and at
 * the end of each turn one of several workers could have work when the others have none.
 */
export function wholeRounds(duration: number, options: RaceOptions): RaceOptions {
  return withMeasurement({ turn: duration }, { ...options, duration })
}
