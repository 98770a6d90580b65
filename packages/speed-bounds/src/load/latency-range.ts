/** The range of latency histograms: microseconds, up to a minute, with three digits. */
export const LATENCY_RANGE = {
  lowestDiscernibleValue: 1,
  highestTrackableValue: 60_000_000,
  numberOfSignificantValueDigits: 3,
} as const
